"""The kinds that a catalogue declares, as the store watches them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from reporter.cel.bounded import bounding
from reporter.cel.content import field_tree, object_type
from reporter.cel.declared_subjects import ALL_OF_LAYER, SubjectRule
from reporter.cel.reads import Path
from reporter.kinds.declared import DeclaredKind
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS, WRITTEN_KINDS
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


CORE_VERSION = "v1"
OBSERVED_GENERATION: Path = ("status", "observedGeneration")
KNOWN_NAMES = frozenset(
    name
    for kind in (*DEFAULT_KINDS, *OPTIONAL_KINDS, *WRITTEN_KINDS)
    for name in (kind.resource, kind.group_resource)
)


class Use(NamedTuple):
    """
    The use of a kind by the reasons of a catalogue.

    *reads*: the fields, each with whether all of its value is read. *rules*: how its objects lead to
    subjects. *looked_up_by*: the layers of the reasons that look objects of it up.
    *is_needed*: the cluster needs an object of it. *needs_others*: it does while there is one.
    """

    reads: frozenset[tuple[Path, bool]]
    rules: frozenset[SubjectRule]
    looked_up_by: frozenset[Layer]
    is_needed: bool = False
    needs_others: bool = False


RememberCurrent = Callable[[Any, frozenset[str]], frozenset[str]]


CurrentDefinition: TypeAlias = tuple[str, str, bytes]
"""A definition of current: the reason, its expression, and its parameters."""

_SHARED: WeakValueDictionary[
    tuple[DeclaredKind, Use, Sequence[CurrentDefinition]], ResourceKind
] = WeakValueDictionary()
"""
The kinds in use. A catalogue that is loaded again gets the same kind for the same definition, so its
watch and its objects stay. A cache of a pure function, not state.
"""


def shared_kind(
    declared: DeclaredKind,
    use: Use,
    remembered: Sequence[CurrentDefinition],
    remember_current: RememberCurrent | None,
) -> ResourceKind:
    """
    Return the kind as `watched_kind` does, or the one that was made of the same definition before.

    A definition that has moved in its file makes an equal kind. *remembered*: the definitions
    of current that are remembered.
    """
    key = (declared, use, remembered)
    found = _SHARED.get(key) or watched_kind(declared, use, remember_current)
    if found.place != declared.place:
        found = replace(found, place=declared.place)
    _SHARED[key] = found
    return found


def watched_kind(
    declared: DeclaredKind, use: Use, remember_current: RememberCurrent | None
) -> ResourceKind:
    """Return a kind whose objects have only the fields that are read."""
    tree = field_tree([*use.reads, (OBSERVED_GENERATION, True)])
    rules = sorted(use.rules, key=repr)
    lookers = tuple(ALL_OF_LAYER[layer] for layer in sorted(use.looked_up_by))
    needing = (CLUSTER_SUBJECT,) if use.needs_others else ()
    version = declared.version or (CORE_VERSION if not declared.group else "")
    made = object_type(declared.kind, tree)
    return ResourceKind(
        resource=declared.resource,
        group=declared.group,
        versions=(version,) if version else (),
        kind=declared.kind,
        type=made,
        index_keys=lambda each: _index_keys(rules, each),
        affects=lambda each: (*_subjects(rules, each), *lookers),
        affects_by_identity=lambda _: needing,
        namespace=declared.namespace,
        label_selector=declared.label_selector,
        field_selector=declared.field_selector,
        tracks_deletions=use.is_needed,
        is_declared=True,
        alias=_alias(declared),
        remember_current=remember_current,
        bounded=bounding(made),
        namespaced=declared.namespaced,
        place=declared.place,
    )


def _alias(declared: DeclaredKind) -> str:
    """Return the name of the kind's table, which is that of no other kind."""
    name = declared.group_resource
    if declared.name:
        return f"{name}/{declared.name}"
    return f"{name}/declared" if name in KNOWN_NAMES else name


def _index_keys(rules: Sequence[SubjectRule], each: ApiObject) -> tuple[str, ...]:
    return tuple([key for rule in rules for key in rule.index_keys(each)])


def _subjects(rules: Iterable[SubjectRule], each: ApiObject) -> list[Subject]:
    found = (rule.find(each) for rule in rules)
    return [subject for subject in found if subject is not None]
