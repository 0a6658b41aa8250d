"""Check that ranks are unique among the reasons of a subject, so that it has one primary."""

from collections.abc import Iterable

from msgspec import UNSET

from reporter.catalogue.drafts import Draft, Drafts, KnownNames
from reporter.catalogue.problems import Problem
from reporter.model.enums import Layer


def check_ranks(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    first_with_rank: dict[tuple[tuple[Layer, str], int], Draft] = {}
    for draft in drafts.all:
        if draft.entry.rank is UNSET:
            continue
        other = first_with_rank.setdefault((draft.about, draft.entry.rank), draft)
        if other.reason != draft.reason:
            later, earlier = _later_and_earlier(other, draft)
            text = (
                f"rank {draft.entry.rank} is taken by {earlier.reason}"
                f" ({earlier.where('rank')}); choose another"
            )
            yield later.problem(text, "rank")


def _later_and_earlier(first: Draft, second: Draft) -> tuple[Draft, Draft]:
    """Return the draft to report and the other one: an overlay's rank, else the later entry's."""
    by_overlay = first.where("rank").file != first.node.place.file
    return (first, second) if by_overlay else (second, first)
