"""
What a source adds to a verdict: it never holds up what is told without it.
"""

from collections.abc import Iterable, Sequence

from reporter.model.verdicts import Trouble
from reporter.stages.resources.check_result import CheckResult
from reporter.stages.resources.workloads.deployments import Inconclusive


def with_detail(
    found: Iterable[CheckResult | None],
    detail: Iterable[CheckResult | None],
    *,
    unwatched: str = "",
) -> Sequence[CheckResult]:
    """
    *unwatched*: why *detail* is only as it was last seen, so that trouble in it is not known to last.

    Beside trouble that is known, what could not be looked at is left out.
    """
    known = [each for each in found if each is not None]
    added = [each for each in detail if each is not None]
    if added and unwatched:
        added = [Inconclusive(unwatched)]
    if any(isinstance(each, Trouble) for each in (*known, *added)):
        added = [each for each in added if isinstance(each, Trouble)]
    return [*known, *added]
