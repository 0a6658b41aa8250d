"""
Flags and environment variables become one frozen object, or are refused by name.
"""

from reporter.settings.enums import LogFormat, ScrapeMode
from reporter.settings.errors import SettingsError
from reporter.settings.flags import FLAG_NAMES, FLAGS, Flag, FlagGroup
from reporter.settings.loading import load_settings
from reporter.settings.parsers import BindAddress
from reporter.settings.settings import Settings


__all__ = [
    "FLAGS",
    "FLAG_NAMES",
    "BindAddress",
    "Flag",
    "FlagGroup",
    "LogFormat",
    "ScrapeMode",
    "Settings",
    "SettingsError",
    "load_settings",
]
