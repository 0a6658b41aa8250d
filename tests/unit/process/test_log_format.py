"""Log records as one line each, whatever they contain."""

import json
import logging
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.process.log_format import JsonFormatter, TextFormatter


HOSTILE = (
    "first\nERROR forged\r\x1b[31mred\x00\u2028and\u2029\x85\x0b\x0cso \u202eon\ud800",
    'quote " brace } back\\slash',
    "",
)
FORMATS = pytest.mark.parametrize(
    "formatter", [TextFormatter(), JsonFormatter()], ids=["text", "json"]
)


def a_record(text: str, *args: object, level: int = logging.INFO, **extra) -> logging.LogRecord:
    record = logging.LogRecord("reporter.states", level, "x.py", 1, text, args or None, None)
    record.created = 1_777_636_800.25
    record.__dict__.update(extra)
    return record


def a_failure(text: str) -> logging.LogRecord:
    record = a_record("stopping after a failure", level=logging.CRITICAL)
    try:
        raise RuntimeError(text)
    except RuntimeError:
        record.exc_info = sys.exc_info()
    return record


def test_a_text_line_has_time_level_and_name():
    assert TextFormatter().format(a_record("leading: %s", "me")) == (
        "2026-05-01T12:00:00.250Z INFO    reporter.states: leading: me"
    )


def test_a_json_line_has_the_fields_of_a_change_as_keys_of_their_own():
    record = a_record("x", level=logging.WARNING, reason="clusterBBRNotReady", namespace="")
    assert json.loads(JsonFormatter().format(record)) == {
        "time": "2026-05-01T12:00:00.250Z",
        "level": "warning",
        "logger": "reporter.states",
        "message": "x",
        "reason": "clusterBBRNotReady",
    }


@FORMATS
@pytest.mark.parametrize("text", HOSTILE)
def test_foreign_text_forges_no_line_and_no_colour(formatter, text):
    line = formatter.format(a_record("%s", text, reason=text, namespace=text))
    assert len(line.splitlines()) == 1
    assert "\x1b" not in line
    assert "\u202e" not in line
    assert line.encode()


@given(st.text())
def test_a_json_line_is_one_line_that_parses_whatever_the_text(text):
    line = JsonFormatter().format(a_record("%s", text, reason=text))
    assert line.splitlines() == [line]
    assert "message" in json.loads(line)


def test_ordinary_text_of_any_language_is_left_as_it_is():
    text = "Größe 1 GiB, 模型 qwen — “ready”"
    assert json.loads(JsonFormatter().format(a_record(text)))["message"] == text
    assert TextFormatter().format(a_record(text)).endswith(text)


def test_a_failure_is_one_json_line_with_its_traceback():
    line = JsonFormatter().format(a_failure("bad\nERROR forged"))
    assert len(line.splitlines()) == 1
    assert "RuntimeError: bad" in json.loads(line)["exception"]


def test_the_lines_of_a_traceback_cannot_be_taken_for_records():
    first, *traceback = (
        TextFormatter().format(a_failure("bad\nERROR forged\r\x1b[2J")).splitlines()
    )
    assert first.endswith("CRITICAL reporter.states: stopping after a failure")
    assert all(line.startswith("    ") for line in traceback)
    assert "\x1b" not in "".join(traceback)
    assert any("RuntimeError: bad" in line for line in traceback)
