"""
The closed sets that flags choose from.
"""

from enum import StrEnum, unique


@unique
class ScrapeMode(StrEnum):
    """
    How pods are scraped: at their address, through the API server, or whichever works.
    """

    AUTO = "auto"
    DIRECT = "direct"
    PROXY = "proxy"


@unique
class LogFormat(StrEnum):
    """
    One line per entry either way.
    """

    TEXT = "text"
    JSON = "json"
