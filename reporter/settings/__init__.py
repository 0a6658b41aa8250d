"""
Flags and environment variables become one frozen object, or are refused by name.
"""

from reporter.settings.choices import LogFormat, ScrapeMode
from reporter.settings.errors import SettingsError
from reporter.settings.flags import FLAGS, NAMES, Flag, Group
from reporter.settings.loading import load
from reporter.settings.settings import Settings
from reporter.settings.values import Address


__all__ = [
    "FLAGS",
    "NAMES",
    "Address",
    "Flag",
    "Group",
    "LogFormat",
    "ScrapeMode",
    "Settings",
    "SettingsError",
    "load",
]
