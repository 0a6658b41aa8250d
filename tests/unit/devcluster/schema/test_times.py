from datetime import UTC, datetime, timedelta

import pytest

from devcluster.schema import times


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-0.5, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (283, "4m43s"), (599, "9m59s"),
        (600, "10m"), (10799, "179m"), (10800, "3h"), (11100, "3h5m"), (28800, "8h"),
        (172799, "47h"), (172800, "2d"), (270000, "3d3h"), (691200, "8d"), (63072000, "2y"),
        (66000000, "2y33d"), (400000000, "12y"), (-5, "<invalid>"),
    ],
)  # fmt: skip
def test_human_duration_is_formatted_as_by_kubectl(seconds, text):
    assert times.human_duration(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    "text", ["2026-11-21T08:00:00.123456Z", "2026-11-21T10:00:00.123456+02:00"]
)
def test_micro_time_is_parsed_and_formatted_in_utc(text):
    assert times.parse_time(text, times.MICRO_TIME_LAYOUT) == datetime(
        2026, 11, 21, 8, 0, 0, 123456, UTC
    )


@pytest.mark.parametrize(
    ("text", "layout", "rest"),
    [
        ("2026-11-21T08:00:00Z", times.MICRO_TIME_LAYOUT, 'cannot parse "Z" as ".000000"'),
        ("2026-11-21T08:00:00.1234567Z", times.MICRO_TIME_LAYOUT, 'cannot parse "7Z" as "Z07:00"'),
        ("2026-11-21 08:00:00Z", times.TIME_LAYOUT, 'cannot parse " 08:00:00Z" as "T"'),
        ("", times.TIME_LAYOUT, 'cannot parse "" as "2006"'),
        ("2026-11-21T08:00:00Zx", times.TIME_LAYOUT, 'extra text: "x"'),
    ],
)
def test_invalid_time_is_refused_with_gos_text(text, layout, rest):
    with pytest.raises(times.TimeParseError) as refused:
        times.parse_time(text, layout)
    assert str(refused.value).endswith(rest)
