"""Format ages as kubectl does (k8s.io/apimachinery, pkg/util/duration, HumanDuration)."""

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400
UNITS = {YEAR: "y", DAY: "d", HOUR: "h", MINUTE: "m", 1: "s"}

STEPS = (
    (2 * MINUTE, 1, 0),
    (10 * MINUTE, MINUTE, 1),
    (3 * HOUR, MINUTE, 0),
    (8 * HOUR, HOUR, MINUTE),
    (48 * HOUR, HOUR, 0),
    (8 * DAY, DAY, HOUR),
    (2 * YEAR, DAY, 0),
    (8 * YEAR, YEAR, DAY),
)
"""Below each limit: the unit, and the smaller one beside it; 0 for none."""


def format_age(seconds: int) -> str:
    """Return about three characters: 45s, 2m5s, 12m, 3h20m, 30h, 2d4h, 90d, 2y10d."""
    whole = max(seconds, 0)
    unit, smaller = next(((u, s) for limit, u, s in STEPS if whole < limit), (YEAR, 0))
    rest = whole % unit // smaller if smaller else 0
    return f"{whole // unit}{UNITS[unit]}" + (f"{rest}{UNITS[smaller]}" if rest else "")
