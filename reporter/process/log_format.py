"""
Format log records as text or JSON.

A record is one line whatever it contains, so that foreign text cannot forge a second one.
"""

import json
import logging
from datetime import UTC, datetime

from reporter.settings import LogFormat


EXTRA_FIELDS = ("reason", "layer", "namespace", "inferenceset", "state", "was")


class TextFormatter(logging.Formatter):
    """
    Format a record as ``time LEVEL logger: message``.

    The lines of a traceback are indented. No other line is, so they cannot be taken for records.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with control characters escaped, and the indented traceback below it."""
        text = one_line(record.getMessage())
        line = f"{_format_time(record)} {record.levelname:<7} {record.name}: {text}"
        traceback = self.formatException(record.exc_info) if record.exc_info else ""
        return "\n    ".join((line, *_traceback_lines(traceback)))


class JsonFormatter(logging.Formatter):
    """Format a record as one JSON object, with the fields of a state change as keys."""

    def format(self, record: logging.LogRecord) -> str:
        """
        Return the object on one line; *exception* is its traceback. EXTRA_FIELDS appear if they are set.
        """
        line = {
            "time": _format_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": one_line(record.getMessage()),
            **{
                name: one_line(str(value))
                for name in EXTRA_FIELDS
                if (value := getattr(record, name, None))
            },
        }
        if record.exc_info:
            line["exception"] = "\n".join(_traceback_lines(self.formatException(record.exc_info)))
        return json.dumps(line, ensure_ascii=False)


def _traceback_lines(traceback: str) -> list[str]:
    return [one_line(line) for line in traceback.split("\n")] if traceback else []


def one_line(text: str) -> str:
    """Return the text with every control character escaped, so that a line is what it seems."""
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _format_time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def configure_logging(log_format: LogFormat, level: int) -> None:
    """Configure logging for the whole process. Libraries log warnings and errors only."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if log_format is LogFormat.JSON else TextFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for library in ("asyncio", "aiohttp"):
        logging.getLogger(library).setLevel(max(level, logging.WARNING))
