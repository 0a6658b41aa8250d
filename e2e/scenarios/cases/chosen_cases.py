"""
The real cases of `make test`: few that show together all that a real API server can show.

The others are marked as slow, and `make nightly` replays them too.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from e2e.scenarios.cases.real_cases import REAL_CASES
from e2e.support.cases.case_steps import Case
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.stories.format import expected_announcements
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.pack_stories import PACKS, catalogue_of, read_pack_stories


STORIES: Mapping[str, Case] = {
    name: story for name, story in read_pack_stories().items() if story.get("real")
}
SUPPRESSING = "(suppressing downstream reasons: "
PAGES, OWN_KIND, STORE = "the page of an engine", "a kind of the overlay", "the store"


def all_to_show() -> frozenset[str]:
    """
    Return each watched kind, each row of suppressions, and what else only a real API server shows.
    """
    kinds = {each.kind for each in (*DEFAULT_KINDS, *OPTIONAL_KINDS)}
    rows = {f"{row.source} > {row.target}" for row in DEFAULT_CATALOGUE.suppressions}
    packs = {f"pack {pack}" for pack in PACKS}
    declared = {
        each.kind
        for pack in PACKS
        for each in kinds_to_watch(catalogue_of(pack))
        if each.is_declared
    }
    return frozenset({*kinds, *rows, *packs, *declared, PAGES, OWN_KIND, STORE})


def shown_by(case: Case) -> frozenset[str]:
    own = {each["kind"] for each in case.get("overlay", {}).get("kinds", ())}
    return frozenset(_shown(case)) - own


def _shown(case: Case) -> Iterator[str]:
    """
    Yield a kind for each object that a step writes: deleting it does not show what is read of it.
    """
    for step in case["story"]:
        for address, change in step.get("change", {}).items():
            if change is not None:
                yield address.partition(" ")[0]
        if any("rates" in (page or {}) for page in step.get("pages", {}).values()):
            yield PAGES
    for _, text in expected_announcements(case):
        before, _, targets = text.partition(SUPPRESSING)
        for row in DEFAULT_CATALOGUE.suppressions:
            if before.startswith(f"Warning {row.source} ") and row.target in targets:
                yield f"{row.source} > {row.target}"
    yield from (f"pack {pack}" for pack in case.get("packs", ()))
    if case.get("overlay", {}).get("kinds"):
        yield OWN_KIND
    if "store" in case.get("flags", {}):
        yield STORE


def choose(shown: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the names that show all together: again and again the one that adds most."""
    left, chosen = frozenset[str]().union(*shown.values()), set[str]()
    while left:
        best = min(shown, key=lambda name: (-len(shown[name] & left), name))
        chosen.add(best)
        left -= shown[best]
    return frozenset(chosen)


@cache
def chosen_cases() -> frozenset[str]:
    return choose({name: shown_by(case) for name, case in {**REAL_CASES, **STORIES}.items()})


def slow_unless_chosen(names: Iterable[str]) -> list[Any]:
    """Return the names as parameters of a test."""
    return [
        name if name in chosen_cases() else pytest.param(name, marks=pytest.mark.slow)
        for name in names
    ]
