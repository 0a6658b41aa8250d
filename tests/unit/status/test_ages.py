"""Ages as kubectl shows them."""

import pytest

from reporter.status.table import DAY, HOUR, MINUTE, YEAR, format_age


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-5, "0s"),
        (0, "0s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 5, "2m5s"),
        (10 * MINUTE + 5, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR + 20 * MINUTE, "3h20m"),
        (30 * HOUR + 59, "30h"),
        (2 * DAY + 4 * HOUR, "2d4h"),
        (90 * DAY, "90d"),
        (2 * YEAR + 10 * DAY, "2y10d"),
        (9 * YEAR + 10 * DAY, "9y"),
    ],
)
def test_an_age_is_short(seconds, expected):
    assert format_age(seconds) == expected
