"""
The logging flags of controller-runtime's zap (pkg/log/zap), as far as they mean something here.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from reporter.settings.enums import LogFormat


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
    """
    A number is a verbosity greater than info's.
    """
    if text in LEVELS:
        return LEVELS[text]
    if text.isdecimal() and int(text) > 0:
        return logging.DEBUG
    raise ValueError(f"must be one of {', '.join(LEVELS)}, or a whole number greater than 0")


def parse_encoder(text: str) -> LogFormat:
    if text not in ENCODERS:
        raise ValueError(f"must be one of {', '.join(ENCODERS)}")
    return ENCODERS[text]


def ignored_parser(known: tuple[str, ...]) -> Callable[[str], str]:
    """
    Checked and without effect.
    """

    def read(text: str) -> str:
        if text and text not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return text

    return read


def resolve_logging(values: Mapping[str, Any], given: frozenset[str]) -> tuple[LogFormat, int]:
    """
    Format and level; *given*: names of the flags that were set, which outdo those that follow.
    """
    devel = bool(values["zap-devel"])
    if "log-format" in given or "zap-encoder" not in given:
        text = LogFormat.TEXT if devel and "log-format" not in given else None
        format_ = text or LogFormat(values["log-format"])
    else:
        format_ = LogFormat(values["zap-encoder"])
    level_ = values["zap-log-level"]
    return format_, logging.DEBUG if devel and "zap-log-level" not in given else int(level_)
