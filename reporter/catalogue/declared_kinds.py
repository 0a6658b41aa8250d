"""Read the kinds that packs and an overlay declare."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec import UNSET

from reporter.catalogue.format import KindEntry
from reporter.catalogue.problems import Place, Problem
from reporter.catalogue.yaml_nodes import Fields, Items, Node
from reporter.catalogue.yaml_reader import read
from reporter.kinds.declared import DeclaredKind
from reporter.kinds.resource_kind import (
    CORE_SCOPES,
    SelectorError,
    describe_other_scope,
    parse_fields,
    parse_labels,
)


SECRETS = "secrets"


def kind_nodes(root: Node | None) -> Iterator[Fields]:
    """Yield the kinds that a file lists."""
    listed = root.values.get("kinds") if isinstance(root, Fields) else None
    for node in listed.items if isinstance(listed, Items) else ():
        if isinstance(node, Fields):
            yield node


def read_kinds(nodes: Iterable[Fields], problems: list[Problem]) -> Mapping[str, DeclaredKind]:
    """
    Return the kinds by name. What is wrong with one is added to *problems*.

    Two packs may declare the same kind with the same words.
    """
    kinds: dict[str, DeclaredKind] = {}
    places: dict[str, Place] = {}
    for node in nodes:
        # A file whose kinds are unreadable was refused as a whole.
        entry = read(node, KindEntry, [])
        if entry is None:
            continue
        kind = _declared(entry, str(node.where("namespaced")))
        if kinds.get(kind.called) == kind:
            continue
        problems += _problems(kind, node, places)
        kinds.setdefault(kind.called, kind)
        for name in _names(kind):
            places.setdefault(name, node.where("kind"))
    return kinds


def _declared(entry: KindEntry, place: str) -> DeclaredKind:
    given = {
        name: value for name, value in msgspec.structs.asdict(entry).items() if value is not UNSET
    }
    return DeclaredKind(**given, place=place)


def _names(kind: DeclaredKind) -> tuple[str, ...]:
    """
    Return what no other kind may have: its name, and unless that is its own one, its resource.
    """
    return (kind.called,) if kind.name else (kind.kind, kind.group_resource)


def _problems(kind: DeclaredKind, node: Fields, places: Mapping[str, Place]) -> Iterator[Problem]:
    for name in _names(kind):
        if name in places:
            text = f"{name} is declared at {places[name]} already; remove one of the two"
            more = ", or add a `name` to one that has other selectors"
            key = "resource" if name == kind.group_resource else "kind"
            yield Problem(node.where(key), f"kinds: {text}{more}")
            return
    if kind.group_resource == SECRETS:
        text = "Secrets are never read; read what the objects that use them say about them"
        yield Problem(node.where("resource"), f"kinds: {text}")
    namespaced = CORE_SCOPES.get(kind.resource) if not kind.group else None
    if namespaced not in (None, kind.namespaced):
        text = describe_other_scope(kind.kind, namespaced=not kind.namespaced)
        yield Problem(node.where("namespaced"), f"kinds: {text}")
    elif kind.namespace and not kind.namespaced:
        text = f"{kind.kind} has no namespaces, so there is none to read; remove `namespace`"
        yield Problem(node.where("namespace"), f"kinds: {text}")
    for key, selector, parse in (
        ("label-selector", kind.label_selector, parse_labels),
        ("field-selector", kind.field_selector, parse_fields),
    ):
        try:
            parse(selector)
        except SelectorError as err:
            yield Problem(node.where(key), f"kinds: `{key}` is no selector: {err}")
