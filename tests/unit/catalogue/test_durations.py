from datetime import timedelta

import pytest

from reporter.catalogue.format import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0s", timedelta(0)),
        ("15s", timedelta(seconds=15)),
        ("5m", timedelta(minutes=5)),
        ("1h30m", timedelta(minutes=90)),
        ("1h1s", timedelta(seconds=3601)),
        ("grace", None),
    ],
)
def test_a_duration_is_parsed_and_formatted_back(text, value):
    assert parse_duration(text) == value
    assert format_duration(value) == text


@pytest.mark.parametrize("text", ["", "5", "m", "30s1h", "-5s", "1.5h", "5 m", "Grace", "99999h"])
def test_any_other_text_is_refused(text):
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)
