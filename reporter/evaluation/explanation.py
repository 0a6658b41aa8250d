"""
Find which upstream explains a finding: a cause precedes its effect.

A finding goes on as it was if it existed before its source went out, or if it states a cause of its own,
such as out of memory. A missing CRD suppresses it all the same: nobody can look at it any more.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from reporter.catalogue.entries import Catalogue, CatalogueEntry
from reporter.evaluation.clocks import CauseClock, FindingState
from reporter.kinds.core import NODES
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import Trouble


SEEN_TOGETHER = timedelta(seconds=5)
"""The time within which two watches may show a cause and its effect in the wrong order."""


def explaining_sources(
    key: FindingKey,
    state: FindingState,
    sources: tuple[FindingKey, ...],
    began_at: Mapping[FindingKey, datetime],
    catalogue: Catalogue,
) -> tuple[FindingKey, ...]:
    """Return those of the *sources*, which are out since *began_at*, that explain a finding."""
    entry, clocks = catalogue[key.reason], state.shown_clocks
    is_own = bool(entry.own_causes) and any(_is_own_cause(entry, clock) for clock in clocks)
    found = min([each.found_at for each in clocks if each.found_at is not None], default=None)
    explaining = [
        each
        for each in sources
        if each.reason == catalogue.missing_crd_reason
        or not (is_own or (found is not None and found + SEEN_TOGETHER < began_at[each]))
    ]
    return sources if len(explaining) == len(sources) else tuple(explaining)


def _is_own_cause(entry: CatalogueEntry, clock: CauseClock) -> bool:
    code = clock.trouble.cause.code  # or ``<extent>.<cause>``
    return code in entry.own_causes or code.partition(".")[2] in entry.own_causes


def lost_nodes(troubles: Iterable[Trouble]) -> frozenset[str] | None:
    """
    Return the Nodes that a finding is about, empty if it does not tell which; None if it is about others.

    A workload that runs on lost Nodes is about itself.
    """
    about = [each for each in troubles if each.cause.object.resource == NODES.group_resource]
    return frozenset[str]().union(*(each.nodes for each in about)) if about else None


def runs_on(state: FindingState | None, nodes: frozenset[str] | None) -> bool:
    """
    Return whether all of a finding is explained by these Nodes; true if there is no question of any.
    """
    if nodes is None:
        return True
    troubles = state.troubles if state is not None else ()
    return bool(troubles) and all(
        each.nodes and (not nodes or each.nodes <= nodes) for each in troubles
    )
