"""
Check that each layer has one Normal reason for a kind of subject, the one that ends its episodes.
"""

from collections import defaultdict
from collections.abc import Iterable

from reporter.catalogue.drafts import Draft, Drafts, KnownNames
from reporter.catalogue.problems import Place, Problem
from reporter.model.enums import EventType, Layer


def check_ready_reasons(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    by_subject: defaultdict[tuple[Layer, str], list[Draft]] = defaultdict(list)
    for draft in drafts.all:
        by_subject[draft.about].append(draft)
    unreadable = len(drafts.all) != len(drafts.names)
    for (layer, subject_kind), found in by_subject.items():
        where = f"layer {layer}" + (f" for {subject_kind}" if subject_kind else "")
        ready = [d for d in found if d.entry.type is EventType.NORMAL]
        yield from _check_only_one(where, ready)
        if not ready and not unreadable:
            text = (
                f"{where} has no reason of type Normal that announces recovery;"
                " add one, such as clusterReady"
            )
            yield Problem(Place(found[0].node.place.file, 1), text)


def _check_only_one(where: str, ready: list[Draft]) -> Iterable[Problem]:
    for draft in ready[1:]:
        if draft.reason != ready[0].reason:
            text = f"{ready[0].reason} is the Normal reason of {where} already; remove one"
            yield draft.problem(text, "type")
