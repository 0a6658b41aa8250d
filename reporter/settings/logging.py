"""
The flags of logging, among them those of controller-runtime (pkg/log/zap).

The Go reporter has the latter, so charts and users may set them.
"""

# ruff: noqa: RUF009  (each call declares a field, as dataclasses.field does)

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from reporter.settings.enums import LogFormat
from reporter.settings.flags import RUN_AND_HUB, FlagGroup, flag
from reporter.settings.parsers import choice_parser, parse_boolean


_logging = partial(flag, FlagGroup.LOGGING, taken_by=RUN_AND_HUB)
_IGNORED = "Accepted for compatibility; has no effect."


LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "error": logging.ERROR,
    "panic": logging.CRITICAL,
}
ENCODERS = {"json": LogFormat.JSON, "console": LogFormat.TEXT}
STACKTRACE_LEVELS = ("info", "error", "panic")
TIME_ENCODINGS = ("epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano")


def parse_level(text: str) -> int:
    """Return a level of the logging module. A number is a verbosity above info, as in logr."""
    if text in LEVELS:
        return LEVELS[text]
    if text.isdecimal() and int(text) > 0:
        return logging.DEBUG
    raise ValueError(f"must be one of {', '.join(LEVELS)}, or a whole number greater than 0")


def parse_encoder(text: str) -> LogFormat:
    """Return the format that an encoder of zap stands for: json, or console for text."""
    if text not in ENCODERS:
        raise ValueError(f"must be one of {', '.join(ENCODERS)}")
    return ENCODERS[text]


def ignored_parser(known: tuple[str, ...]) -> Callable[[str], str]:
    """Return a parser for a flag that is checked and has no effect."""

    def parse(text: str) -> str:
        if text and text not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return text

    return parse


# A class cannot have two bases with slots. Settings, which alone is made, has the methods.
@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class LoggingSettings:
    """The settings of log entries; some flags are only taken for the earlier reporter's sake."""

    log_format: LogFormat = _logging(
        "text", choice_parser(LogFormat), "text or json; one line per entry."
    )
    zap_log_level: int = _logging(
        "info", parse_level, "debug, info, error or panic; a number above 0 means debug."
    )
    zap_encoder: LogFormat = _logging(
        "console", parse_encoder, "console or json; applies unless --log-format is given."
    )
    zap_devel: bool = _logging(
        "false", parse_boolean, "Log text at level debug unless other flags say otherwise."
    )
    zap_stacktrace_level: str = _logging("", ignored_parser(STACKTRACE_LEVELS), _IGNORED)
    zap_time_encoding: str = _logging("", ignored_parser(TIME_ENCODINGS), _IGNORED)


def resolve_logging(values: Mapping[str, Any], given: Collection[str]) -> tuple[LogFormat, int]:
    """
    Return format and level: a flag that was given wins over zap-devel, log-format over zap-encoder.

    *values*: by field of Settings. *given*: names of the flags that were set.
    """
    devel = bool(values["zap_devel"])
    if "log-format" not in given and "zap-encoder" in given:
        log_format = LogFormat(values["zap_encoder"])
    elif "log-format" not in given and devel:
        log_format = LogFormat.TEXT
    else:
        log_format = LogFormat(values["log_format"])
    level = int(values["zap_log_level"])
    return log_format, logging.DEBUG if devel and "zap-log-level" not in given else level
