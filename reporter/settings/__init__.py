"""Read flags and environment variables into one frozen Settings, or name what is wrong."""

from reporter.settings.arguments import Arguments, parse_arguments
from reporter.settings.enums import (
    LogFormat,
    RollUpScope,
    ScrapeMode,
    StatusAuthorization,
    StoreBackend,
)
from reporter.settings.errors import SettingsError
from reporter.settings.flags import Flag, FlagGroup, TakenBy
from reporter.settings.loading import load_settings
from reporter.settings.parsers import BindAddress
from reporter.settings.settings import FLAG_NAMES, FLAGS, Settings


__all__ = [
    "FLAGS",
    "FLAG_NAMES",
    "Arguments",
    "BindAddress",
    "Flag",
    "FlagGroup",
    "LogFormat",
    "RollUpScope",
    "ScrapeMode",
    "Settings",
    "SettingsError",
    "StatusAuthorization",
    "StoreBackend",
    "TakenBy",
    "load_settings",
    "parse_arguments",
]
