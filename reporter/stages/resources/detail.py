"""
The results that an optional source adds to a verdict.

The verdict must not get worse by switching a source on: what the source cannot tell never hides what
is known without it.
"""

from collections.abc import Iterable, Sequence

from reporter.model.verdicts import Trouble
from reporter.stages.resources.check_result import CheckResult, Inconclusive


def with_detail(
    results: Iterable[CheckResult | None],
    detail: Iterable[CheckResult | None],
    *,
    unwatched: str = "",
) -> Sequence[CheckResult]:
    """
    Add *detail* to *results*; beside known trouble, inconclusive detail is dropped.

    *unwatched*: why the source's kinds are not watched now, empty if they are. Trouble among the
    objects last seen may be over by then, so it counts as inconclusive.
    """
    known = [each for each in results if each is not None]
    added = [each for each in detail if each is not None]
    if added and unwatched:
        added = [Inconclusive(unwatched)]
    if any(isinstance(each, Trouble) for each in (*known, *added)):
        added = [each for each in added if isinstance(each, Trouble)]
    return [*known, *added]
