"""Times as others write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.model.times import format_micro_time, format_time, parse_time, parse_zoned_time


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
YEAR_1970 = datetime(1970, 1, 1)  # noqa: DTZ001  hypothesis adds the zone


@pytest.mark.parametrize("text", ["2026-05-01T12:00:00Z", "2026-05-01T14:00:00+02:00"])
def test_a_time_is_read_in_utc(text):
    for found in (parse_time(text), parse_zoned_time(text)):
        assert found is not None
        assert (found, found.tzinfo) == (NOON, UTC)


def test_a_time_without_a_zone_is_in_utc_or_no_time():
    assert parse_time("2026-05-01T12:00:00") == NOON
    assert parse_zoned_time("2026-05-01T12:00:00") is None


@pytest.mark.parametrize("value", [None, 12, {}, "", "yesterday", "0001-01-01T00:00:00+14:00"])
def test_another_value_is_no_time(value):
    assert parse_zoned_time(value) is None


texts = st.text("0123456789:+-. TZ", max_size=40) | st.text(max_size=40)


@given(texts)
def test_any_text_is_a_time_or_none(text):
    for read in (parse_time, parse_zoned_time):
        found = read(text)
        assert found is None or found.tzinfo is UTC


@given(st.datetimes(min_value=YEAR_1970, timezones=st.just(UTC)))
def test_a_formatted_time_is_read_again(moment):
    assert parse_zoned_time(format_micro_time(moment)) == moment
    assert parse_zoned_time(format_time(moment)) == moment.replace(microsecond=0)
