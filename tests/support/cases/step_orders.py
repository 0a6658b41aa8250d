"""
The orders of the objects of a step that takes place ``within`` some time.
"""

from collections.abc import Iterator, Mapping
from random import Random

from tests.support.cases.syntax import parse_duration


ORDERS = range(8)
WITHIN = "within"
PARTS = ("change", "crds")


def reordered(case: Mapping, order: int) -> Mapping:
    """
    Return the case with such steps split. An object comes equally late in each order.
    """
    steps = [each for step in case["story"] for each in _split_step(step, order)]
    return {**case, "story": sorted(steps, key=lambda step: parse_duration(step["at"]))}


def has_fixed_order(case: Mapping) -> bool:
    return not any(WITHIN in step for step in case["story"])


def _split_step(step: Mapping, order: int) -> Iterator[Mapping]:
    """
    Split a step into whole seconds, so that several objects may still come at once.
    """
    if WITHIN not in step:
        yield step
        return
    begin, most = parse_duration(step["at"]), int(parse_duration(step[WITHIN]).total_seconds())
    for part in PARTS:
        for name, words in step.get(part, {}).items():
            late = Random(f"{order} {name}").randint(0, most)
            at = int(begin.total_seconds()) + late
            yield {"at": f"{at}s", part: {name: words}}
