"""Read the definitions of what makes subjects, and check that they fit together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from reporter.catalogue.format_of_kinds import KindEntry, SubjectEntry
from reporter.catalogue.parsed_entries import EntrySource, ParsedEntries
from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.subject_definitions import (
    DeletionMarkers,
    NamespaceScope,
    SubjectDefinition,
    SubjectDefinitions,
    make_definitions,
)
from reporter.catalogue.yaml_nodes import Fields, Scalar
from reporter.catalogue.yaml_reader import read
from reporter.kinds import resource_kind
from reporter.kinds.declared import DeclaredKind
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.kinds.objects import ApiObject
from reporter.model.enums import Layer


class PlacedDefinition(NamedTuple):
    """A definition with its entry, whose lines problems name."""

    rule: SubjectDefinition
    node: Fields

    def problem(self, text: str, key: str) -> Problem:
        """Return a problem with a key of the definition, at its line in the file."""
        return Problem(self.node.where(key), f"subjects: {self.rule.kind.kind}: {text}")

    @property
    def place(self) -> Place:
        """The line of the definition's kind, to which problems of other definitions refer."""
        return self.node.where("kind")


def read_definitions(
    sources: Iterable[EntrySource],
    kinds: Mapping[str, resource_kind.ResourceKind],
    problems: list[Problem],
) -> SubjectDefinitions:
    """
    Return the definitions of all packs, without those of a kind that is not known.

    *kinds*: all that can be watched, by name. What is wrong is added to *problems*.
    """
    placed = [
        found for each in sources if (found := _read_definition(each, kinds, problems)) is not None
    ]
    for number, each in enumerate(placed):
        problems += _check_form(each)
        problems += _check_scope(each, placed)
        for other in placed[:number]:
            problems += _check_clash(each, other)
    return make_definitions(each.rule for each in placed)


def _read_definition(
    source: EntrySource, kinds: Mapping[str, resource_kind.ResourceKind], problems: list[Problem]
) -> PlacedDefinition | None:
    # The file was read as a whole before, which reported what is wrong with its form.
    entry = read(source.node, SubjectEntry, [])
    if entry is None:
        return None
    named = [kinds.get(name) for name in (entry.kind, *entry.needs)]
    for name, kind in zip((entry.kind, *entry.needs), named, strict=True):
        if kind is None:
            key = "kind" if name == entry.kind else "needs"
            text = f"subjects: unknown kind `{name}`: {suggest_name(name, kinds)}"
            problems.append(Problem(source.node.where(key), text))
    first, needs = named[0], [kind for kind in named[1:] if kind is not None]
    if first is None:
        return None
    rule = SubjectDefinition(
        layer=entry.layer,
        kind=first,
        pack=source.pack,
        prefix=entry.kind.lower() if entry.prefix is UNSET else entry.prefix,
        about=entry.about,
        plain=entry.plain,
        labels=tuple(sorted(entry.labels.items())),
        scope=entry.namespaces,
        namespace_labels=tuple(sorted(entry.namespace_labels.items())),
        name_label=entry.name_label,
        namespace_label=entry.namespace_label,
        ended=DeletionMarkers(frozenset(entry.ended_conditions), frozenset(entry.ended_phases)),
        needs=tuple(needs),
    )
    return PlacedDefinition(rule, source.node)


def known_kinds(declared: Mapping[str, DeclaredKind]) -> Mapping[str, resource_kind.ResourceKind]:
    """
    Return the kinds that may make subjects, by name; a declared one stands before a built-in one.

    What is watched of a declared kind is known when its reasons are prepared.
    """
    built_in = {kind.kind: kind for kind in (*DEFAULT_KINDS, *OPTIONAL_KINDS)}
    return {**built_in, **{name: _unwatched(kind) for name, kind in declared.items()}}


@cache  # so that the rules of a catalogue that is loaded again are equal
def _unwatched(declared: DeclaredKind) -> resource_kind.ResourceKind:
    return resource_kind.ResourceKind(
        resource=declared.resource,
        group=declared.group,
        versions=(),
        kind=declared.kind,
        type=ApiObject,
        affects=lambda _: (),
        namespace=declared.namespace,
        label_selector=declared.label_selector,
        field_selector=declared.field_selector,
        is_declared=True,
    )


def bind_kinds(
    definitions: SubjectDefinitions, parsed_entries: ParsedEntries
) -> SubjectDefinitions:
    """
    Return the definitions with the declared kinds as they are watched.

    One whose objects no reason reads is left out: they are not watched, so nothing is known of them.
    """
    watched = {
        _identity(kind): kind
        for parsed in parsed_entries.all
        if parsed.enabled and parsed.spec is not None
        for kind in parsed.spec.bound(parsed.parameters).deciding_kinds
    }
    bound = (
        replace(each, kind=watched[_identity(each.kind)]) if each.kind.is_declared else each
        for each in definitions.all
        if not each.kind.is_declared or _identity(each.kind) in watched
    )
    return make_definitions(bound)


def _identity(kind: resource_kind.ResourceKind) -> tuple[object, ...]:
    selectors = (kind.namespace, kind.label_selector, kind.field_selector)
    return (kind.is_declared, kind.kind, kind.group_resource, *selectors)


# ---------------------------------------------------------------- checks


def _check_form(each: PlacedDefinition) -> Iterator[Problem]:
    rule = each.rule
    if rule.layer is Layer.CLUSTER:
        yield each.problem("the cluster is a subject by itself; choose another layer", "layer")
    if rule.is_of_namespaces and rule.layer is Layer.MODELDEPLOYMENT:
        yield each.problem("namespaces are harnesses; write `layer: modelharness`", "layer")
    if rule.is_of_namespaces and not rule.plain:
        yield each.problem("a namespace has no kind in its name; add `plain: true`", "kind")
    if rule.plain and not rule.is_of_namespaces and rule.layer is Layer.MODELHARNESS:
        yield each.problem("only namespaces are plain in this layer; remove `plain`", "plain")
    if bool(rule.namespace_labels) != (rule.scope is NamespaceScope.LABELLED):
        yield each.problem(
            "`namespaces: labelled` and `namespace-labels` belong together", "namespaces"
        )


def _check_scope(each: PlacedDefinition, placed: Sequence[PlacedDefinition]) -> Iterator[Problem]:
    rule = each.rule
    if rule.scope is not NamespaceScope.HARNESS:
        return
    if rule.layer is not Layer.MODELDEPLOYMENT:
        yield each.problem("a harness depends on no other; remove `namespaces`", "namespaces")
    elif not any(
        other.rule.layer is Layer.MODELHARNESS and other.rule.pack == rule.pack for other in placed
    ):
        text = f"pack {rule.pack} has no harness; write `namespaces: all`, or add one"
        yield each.problem(text, "namespaces")


def _check_clash(each: PlacedDefinition, other: PlacedDefinition) -> Iterator[Problem]:
    rule, first = each.rule, other.rule
    if rule.kind.kind == first.kind.kind:
        yield each.problem(f"makes subjects at {other.place} already; remove one", "kind")
    elif rule.prefix == first.prefix:
        text = f"the prefix `{rule.prefix}` is that of {first.kind.kind} ({other.place}); choose another"
        yield each.problem(text, "prefix")
    if rule.plain and first.plain and rule.layer is first.layer:
        text = f"{first.kind.kind} ({other.place}) is plain in layer {rule.layer}; remove `plain`"
        yield each.problem(text, "plain")


# --------------------------------------------------------------------
# Read the kinds that packs and an overlay declare.


SECRETS = "secrets"


def read_kinds(
    sources: Iterable[EntrySource], problems: list[Problem]
) -> Mapping[str, DeclaredKind]:
    """
    Return the kinds by name. What is wrong with one is added to *problems*.

    Two packs may declare the same kind with the same words.
    """
    kinds: dict[str, DeclaredKind] = {}
    places: dict[str, Place] = {}
    for node in (source.node for source in sources):
        # A file whose kinds are unreadable was refused as a whole; that reasons name them is right.
        entry = read(node, KindEntry, [])
        if entry is None:
            named = node.values.get("name") or node.values.get("kind")
            if isinstance(named, Scalar):
                kinds.setdefault(str(named.value), DeclaredKind(str(named.value), ""))
            continue
        given = msgspec.structs.asdict(entry).items()
        stated = {name: value for name, value in given if value is not UNSET}
        kind = DeclaredKind(**stated, place=str(node.where("namespaced")))
        if kinds.get(kind.called) == kind:
            continue
        problems += _problems(kind, node, places)
        kinds.setdefault(kind.called, kind)
        for name in _names(kind):
            places.setdefault(name, node.where("kind"))
    return kinds


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
    namespaced = resource_kind.CORE_SCOPES.get(kind.resource) if not kind.group else None
    if namespaced not in (None, kind.namespaced):
        text = resource_kind.describe_other_scope(kind.kind, namespaced=not kind.namespaced)
        yield Problem(node.where("namespaced"), f"kinds: {text}")
    elif kind.namespace and not kind.namespaced:
        text = f"{kind.kind} has no namespaces, so there is none to read; remove `namespace`"
        yield Problem(node.where("namespace"), f"kinds: {text}")
    for key, selector, parse in (
        ("label-selector", kind.label_selector, resource_kind.parse_labels),
        ("field-selector", kind.field_selector, resource_kind.parse_fields),
    ):
        try:
            parse(selector)
        except resource_kind.SelectorError as err:
            yield Problem(node.where(key), f"kinds: `{key}` is no selector: {err}")
