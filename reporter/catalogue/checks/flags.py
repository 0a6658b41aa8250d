"""
Parameters that name a flag of the process name one that exists.
"""

from collections.abc import Iterable

from reporter.catalogue.document import Fields, Items, Node, Scalar
from reporter.catalogue.drafts import Drafts, Known
from reporter.catalogue.problems import Place, Problem, nearest


SUFFIX = "-flag"


def check(drafts: Drafts, known: Known) -> Iterable[Problem]:
    for draft in drafts.all:
        parameters = draft.node.values.get("parameters")
        if draft.spec is None or parameters is None:
            continue
        for place, key, flag in _named(parameters):
            if flag not in known.flags:
                offer = nearest(flag, known.flags)
                text = f"{draft.reason}: parameters: {key}: unknown flag `{flag}`: {offer}"
                yield Problem(place, text)


def _named(node: Node) -> Iterable[tuple[Place, str, str]]:
    """
    Every key that names a flag, at any depth, with its flag. An empty one names none.
    """
    if isinstance(node, Items):
        for item in node.items:
            yield from _named(item)
    elif isinstance(node, Fields):
        for key, value in node.values.items():
            if key.endswith(SUFFIX) and isinstance(value, Scalar) and value.value:
                yield node.where(key), key, str(value.value)
            yield from _named(value)
