"""
Log lines as text or JSON.

A record is one line whatever is in it: texts of others must not be able to forge a second one.
"""

import json
import logging
from datetime import UTC, datetime

from reporter.settings import LogFormat


EXTRA_FIELDS = ("reason", "layer", "namespace", "inferenceset", "state", "was")


class TextFormatter(logging.Formatter):
    """
    ``time LEVEL logger: message``; the lines of a trace are indented, as no line of ours is.
    """

    def format(self, record: logging.LogRecord) -> str:
        text = one_line(record.getMessage())
        line = f"{_format_time(record)} {record.levelname:<7} {record.name}: {text}"
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        return "\n    ".join((line, *_trace_lines(trace)))


class JsonFormatter(logging.Formatter):
    """
    One object a line; fields of a state change are keys of their own.
    """

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _format_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": one_line(record.getMessage()),
            **{n: one_line(str(v)) for n in EXTRA_FIELDS if (v := getattr(record, n, None))},
        }
        if record.exc_info:
            line["exception"] = "\n".join(_trace_lines(self.formatException(record.exc_info)))
        return json.dumps(line, ensure_ascii=False)


def _trace_lines(trace: str) -> list[str]:
    return [one_line(line) for line in trace.split("\n")] if trace else []


def one_line(text: str) -> str:
    """
    Control characters and escape sequences shown as such, so that a line is what it seems.
    """
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _format_time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def configure_logging(form: LogFormat, level: int) -> None:
    """
    From now on for all of the process. Libraries have their say from a warning on.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form is LogFormat.JSON else TextFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for noisy in ("asyncio", "aiohttp", "kubernetes"):
        logging.getLogger(noisy).setLevel(max(level, logging.WARNING))
