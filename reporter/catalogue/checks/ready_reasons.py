"""
Check that each layer has one Normal reason, the one that ends its episodes.
"""

from collections.abc import Iterable

from reporter.catalogue.drafts import Draft, Drafts, KnownNames
from reporter.catalogue.problems import Place, Problem
from reporter.model.enums import EventType, Layer


def check_ready_reasons(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    for layer in Layer:
        of_layer = [d for d in drafts.all if d.entry.layer is layer]
        ready = [d for d in of_layer if d.entry.type is EventType.NORMAL]
        yield from _check_only_one(layer, ready)
        unreadable = len(drafts.all) != len(drafts.names)
        if not ready and not unreadable:
            text = (
                f"layer {layer} has no reason of type Normal that announces recovery;"
                " add one, such as clusterReady"
            )
            yield Problem(_layer_place(of_layer), text)


def _check_only_one(layer: Layer, ready: list[Draft]) -> Iterable[Problem]:
    for draft in ready[1:]:
        if draft.reason != ready[0].reason:
            text = f"{ready[0].reason} is the Normal reason of layer {layer} already; remove one"
            yield draft.problem(text, "type")


def _layer_place(drafts: list[Draft]) -> Place:
    return Place(drafts[0].node.place.file, 1) if drafts else Place("catalogue", 1)
