"""Rules and routes in which all goes faster."""

import re
from typing import Any


TIMES = frozenset(
    {"expr", "for", "keep_firing_for"}
    | {"group_wait", "group_interval", "repeat_interval", "resolve_timeout"}
)
UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(?<![\w.])(\d+)(ms|[smhd])(?!\w)")
_AGE = re.compile(r"(time\(\) - \S+ <= )(\d+)(?![\w.])")


def shortened(found: Any, factor: int) -> Any:
    """
    Return rules of Prometheus, or a configuration of Alertmanager, with every duration divided by *factor*
    and all else as it is.
    """
    match found:
        case dict():
            return {key: _value(key, value, factor) for key, value in found.items()}
        case list():
            return [shortened(each, factor) for each in found]
        case _:
            return found


def _value(key: str, value: Any, factor: int) -> Any:
    if key not in TIMES or not isinstance(value, str):
        return shortened(value, factor)

    def shorter(match: re.Match[str]) -> str:
        return f"{int(match[1]) * UNITS[match[2]] // factor}ms"

    aged = _AGE.sub(lambda match: f"{match[1]}{int(match[2]) / factor:g}", value)
    return _DURATION.sub(shorter, aged)
