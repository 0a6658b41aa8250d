from datetime import timedelta

import pytest

from reporter.catalogue.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0s", timedelta(0)),
        ("15s", timedelta(seconds=15)),
        ("5m", timedelta(minutes=5)),
        ("1h30m", timedelta(minutes=90)),
        ("1h1s", timedelta(seconds=3601)),
        ("grace", None),
    ],
)
def test_a_duration_is_read_and_written_alike(written, meant):
    assert parse_duration(written) == meant
    assert format_duration(meant) == written


@pytest.mark.parametrize(
    "written", ["", "5", "m", "30s1h", "-5s", "1.5h", "5 m", "Grace", "99999h"]
)
def test_anything_else_is_no_duration(written):
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(written)
