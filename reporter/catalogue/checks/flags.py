"""Check that parameters which name a flag of the process name one that exists."""

from collections.abc import Iterable

from reporter.catalogue.drafts import Drafts, KnownNames
from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml.nodes import Fields, Items, Node, Scalar


FLAG_KEY_SUFFIX = "-flag"


def check_flags(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    for draft in drafts.all:
        parameters = draft.node.values.get("parameters")
        if draft.spec is None or parameters is None:
            continue
        for place, key, flag in _flag_references(parameters):
            if flag not in known.flags:
                offer = suggest_name(flag, known.flags)
                text = f"{draft.reason}: parameters: {key}: unknown flag `{flag}`: {offer}"
                yield Problem(place, text)


def _flag_references(node: Node) -> Iterable[tuple[Place, str, str]]:
    """
    Yield place, key and flag of every key that names a flag, at any depth; skip empty values.
    """
    if isinstance(node, Items):
        for item in node.items:
            yield from _flag_references(item)
    elif isinstance(node, Fields):
        for key, value in node.values.items():
            if key.endswith(FLAG_KEY_SUFFIX) and isinstance(value, Scalar) and value.value:
                yield node.where(key), key, str(value.value)
            yield from _flag_references(value)
