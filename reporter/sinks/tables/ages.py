"""
Format ages as kubectl does (k8s.io/apimachinery, pkg/util/duration, HumanDuration).
"""

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400
_SECONDS_BELOW, _MINUTES_AND_SECONDS_BELOW, _MINUTES_BELOW = 2 * MINUTE, 10 * MINUTE, 3 * HOUR
_HOURS_AND_MINUTES_BELOW, _HOURS_BELOW, _DAYS_AND_HOURS_BELOW = 8 * HOUR, 48 * HOUR, 8 * DAY
_DAYS_BELOW = 2 * YEAR


def format_age(seconds: int) -> str:
    """
    Return about three characters: 45s, 2m5s, 12m, 3h20m, 30h, 2d4h, 90d, 2y10d.
    """
    if seconds < _SECONDS_BELOW:
        return f"{max(seconds, 0)}s"
    if seconds < _MINUTES_AND_SECONDS_BELOW:
        return _two(seconds, MINUTE, "m", 1, "s")
    if seconds < _MINUTES_BELOW:
        return f"{seconds // MINUTE}m"
    if seconds < _HOURS_AND_MINUTES_BELOW:
        return _two(seconds, HOUR, "h", MINUTE, "m")
    if seconds < _HOURS_BELOW:
        return f"{seconds // HOUR}h"
    if seconds < _DAYS_AND_HOURS_BELOW:
        return _two(seconds, DAY, "d", HOUR, "h")
    if seconds < _DAYS_BELOW:
        return f"{seconds // DAY}d"
    return _two(seconds, YEAR, "y", DAY, "d")


def _two(seconds: int, large: int, large_unit: str, small: int, small_unit: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large}{large_unit}" + (f"{rest}{small_unit}" if rest else "")
