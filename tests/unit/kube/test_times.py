"""Times as others write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.process.server_time import parse_http_date


def test_a_date_is_read():
    assert parse_http_date("Fri, 01 May 2026 12:00:00 GMT") == datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "Fri, 01 May 2026 12:00:00 -0000",
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Sat, 01 Jan 1970 00:00:00 GMT",
        "Fri, 01 May 2026 99999999999999999999:00:00 GMT",
        "Fri, 01 May 2026 12:00:00 +99999999999999999999999",
    ],
)
def test_what_no_clock_shows_is_no_date(text):
    assert parse_http_date(text) is None


digits = st.text("0123456789:+-. TZGMTay,", max_size=40)


@given(digits | st.text(max_size=40))
def test_any_text_is_a_date_or_none(text):
    found = parse_http_date(text)
    assert found is None or found.tzinfo is not None
