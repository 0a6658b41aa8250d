"""The kinds that a catalogue declares, as the store watches them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from sys import intern
from typing import Any, ClassVar, NamedTuple, TypeAlias, Union
from weakref import WeakValueDictionary

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import force_setattr

from reporter.catalogue.subject_definitions import SubjectDefinition
from reporter.cel.limits import bounding
from reporter.cel.reads import EACH, Path
from reporter.kinds import objects
from reporter.kinds.declared import DeclaredKind
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS, WRITTEN_KINDS
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject, qualified_name


# --------------------------------------------------------------------
# The part of an object that expressions read, as a struct that decodes nothing else.
#
# Fields have any type: an expression finds out whether it is the one that it needs.


METADATA, OWNERS = "metadata", "ownerReferences"
KEPT_METADATA = frozenset(
    {"name", "namespace", "uid", "generation", "creationTimestamp", "deletionTimestamp", "labels"}
)
"""The metadata that every object has here, whatever expressions read."""

MAX_INTERNED = 64
"""Length up to which a text is kept in memory once, although many objects have it."""

JsonScalar: TypeAlias = str | int | float | bool | None


class FieldTree(Struct, frozen=True):
    """
    The fields that are read of a value: all of it, or some by name, or the same of each item.

    One without any of them is read for its presence alone.
    """

    fields: Mapping[str, "FieldTree"] = field(default_factory=dict)
    items: "FieldTree | None" = None
    is_whole: bool = False


def field_tree(reads: Iterable[tuple[tuple[str, ...], bool]]) -> FieldTree:
    """Build the tree of paths, each with whether the whole value is read."""
    below: dict[str, list[tuple[tuple[str, ...], bool]]] = {}
    for path, is_whole in reads:
        if not path and is_whole:
            return FieldTree(is_whole=True)
        if path:
            below.setdefault(path[0], []).append((path[1:], is_whole))
    items = field_tree(below.pop(EACH)) if EACH in below else None
    return FieldTree({name: field_tree(each) for name, each in below.items()}, items)


class ContentStruct(Struct, frozen=True, gc=False):
    """The base of the structs that are made of a tree. A field that an object lacks is UNSET."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value.__class__ is str and len(value) <= MAX_INTERNED:
                force_setattr(self, name, intern(value))


class ContentOwner(ContentStruct, frozen=True):
    """The part of an owner by which a subject may be found."""

    api_version: Any = msgspec.field(default=UNSET, name="apiVersion")
    kind: Any = UNSET
    name: Any = UNSET


KEPT_OF_OWNERS = frozenset(each.encode_name for each in msgspec.structs.fields(ContentOwner))


class ContentMetadata(objects.Metadata, frozen=True, omit_defaults=True):
    """Metadata that is encoded as it was decoded: without the fields that the object lacks."""

    packs_labels: ClassVar[bool] = False

    owner_references: Any = None


def object_type(name: str, tree: FieldTree) -> type[objects.ApiObject]:
    """
    Make the struct into which the objects of a kind are decoded, with those fields of *tree* alone.

    Raise ValueError for a tree that is read as a whole.
    """
    if tree.is_whole:
        raise ValueError(f"{name}: an expression reads whole objects")
    named = dict(tree.fields)
    metadata = named.pop(METADATA, FieldTree())
    fields: list[Any] = [
        ("metadata", _metadata_type(name, metadata)),
        *_struct_fields(name, named),
    ]
    made: Any = msgspec.defstruct(
        name, fields, bases=(objects.ApiObject,), frozen=True, kw_only=True, gc=False
    )
    return made  # type: ignore[no-any-return]  # made of that base


def _metadata_type(name: str, tree: FieldTree) -> type[objects.Metadata]:
    more = {each: sub for each, sub in tree.fields.items() if each not in KEPT_METADATA}
    owners = _owner_type(name, more.pop(OWNERS, FieldTree()))
    fields: list[Any] = [
        ("owner_references", owners, msgspec.field(default=None, name=OWNERS)),
        *_struct_fields(name, more),
    ]
    made: Any = msgspec.defstruct(
        f"{name}Metadata",
        fields,
        bases=(ContentMetadata,),
        frozen=True,
        kw_only=True,
        omit_defaults=True,
        gc=False,
    )
    return made  # type: ignore[no-any-return]  # made of that base


def _owner_type(name: str, tree: FieldTree) -> Any:
    each = tree.items or FieldTree()
    if tree.is_whole or each.is_whole or each.items is not None:
        return Any
    more = {key: sub for key, sub in each.fields.items() if key not in KEPT_OF_OWNERS}
    owner = msgspec.defstruct(
        f"{name}Owner", _struct_fields(name, more), bases=(ContentOwner,), frozen=True, gc=False
    )
    return Union[list[owner], None]  # type: ignore[valid-type]  # noqa: UP007


def _struct_fields(name: str, fields: Mapping[str, FieldTree]) -> list[tuple[str, Any, Any]]:
    return [
        (
            f"field_{number}",
            Union[_value_type(f"{name}{number}", tree), UnsetType],  # noqa: UP007
            msgspec.field(default=UNSET, name=each),
        )
        for number, (each, tree) in enumerate(sorted(fields.items()))
    ]


def _value_type(name: str, tree: FieldTree) -> Any:
    if tree.is_whole:
        return Any
    items = tree.items
    if items is None:
        # A list has no fields by name: whatever asks for one fails, whatever is in it.
        struct = msgspec.defstruct(
            name, _struct_fields(name, tree.fields), bases=(ContentStruct,), frozen=True, gc=False
        )
        return Union[struct, list[Any], JsonScalar]  # noqa: UP007
    listed = _value_type(f"{name}Item", items)
    values = _value_type(f"{name}Value", _merged([items, *tree.fields.values()]))
    return Union[dict[str, values], list[listed], JsonScalar]  # type: ignore[valid-type]  # noqa: UP007


def _merged(trees: Iterable[FieldTree]) -> FieldTree:
    """Return a tree that keeps what each of them does."""
    given = list(trees)
    if any(each.is_whole for each in given):
        return FieldTree(is_whole=True)
    names = {name for each in given for name in each.fields}
    fields = {
        name: _merged(each.fields[name] for each in given if name in each.fields) for name in names
    }
    items = [each.items for each in given if each.items is not None]
    return FieldTree(fields, _merged(items) if items else None)


# --------------------------------------------------------------------
# The subject of an object: what a reason about the object is announced for.


ALL_OF_LAYER: Mapping[Layer, Subject] = {
    Layer.CLUSTER: CLUSTER_SUBJECT,
    Layer.MODELHARNESS: objects.ALL_HARNESSES,
    Layer.MODELDEPLOYMENT: objects.ALL_MODELS,
}


class SubjectRule(Struct, frozen=True):
    """
    The way from the objects of a kind to the subjects of a layer: by namespace, label or owner.

    *owner*: a kind, of the API group *owner_group*. *subject_kind*: that in the names of the subjects.
    *makes*: set if the objects are the subjects.

    It reads only what decides which subjects a change affects: name, namespace, labels and owners.
    """

    layer: Layer
    label: str = ""
    owner: str = ""
    owner_group: str = ""
    subject_kind: str = ""
    makes: SubjectDefinition | None = None

    def find(self, each: objects.ApiObject) -> Subject | None:
        """Return the subject of an object; None if the object names none."""
        if self.layer is Layer.CLUSTER:
            return CLUSTER_SUBJECT
        if self.makes is not None:
            return self.makes.possible_subject(each)
        meta = each.metadata
        if self.layer is Layer.MODELHARNESS and not self.subject_kind:
            namespace = meta.label(self.label) if self.label else meta.namespace
            return Subject(self.layer, namespace) if namespace else None
        name = self._model_name(each)
        if not name:
            return None
        return Subject(self.layer, meta.namespace, qualified_name(self.subject_kind, name))

    def _model_name(self, each: objects.ApiObject) -> str:
        meta = each.metadata
        if self.owner:
            return _owner_name(meta.owner_references, self.owner, self.owner_group)
        if self.label:
            return meta.label(self.label)
        return meta.label(objects.CREATED_BY_LABEL) or meta.label(objects.INFERENCE_SET_LABEL)

    def index_keys(self, each: objects.ApiObject) -> tuple[str, ...]:
        """
        Return the keys under which an object is found; the cluster reads all objects of a kind.
        """
        subject = self.find(each) if self.layer is not Layer.CLUSTER else None
        return (self.key(subject),) if subject is not None else ()

    def key(self, subject: Subject) -> str:
        """Return the index key of the objects of a subject."""
        owner = f"{self.owner}.{self.owner_group}" if self.owner else ""
        return f"{self.layer} {owner}{self.label}={subject.namespace}/{subject.name}"


def _owner_name(owners: Any, kind: str, group: str) -> str:
    """
    Return the name of the first owner of this kind and group; empty if there is none.

    Owners are mappings if an expression reads all of them, else structs.
    """
    for each in owners or ():
        found = each if isinstance(each, Mapping) else msgspec.to_builtins(each)
        if found.get("kind") == kind and _group_of(found.get("apiVersion")) == group:
            name = found.get("name")
            return name if isinstance(name, str) else ""
    return ""


def _group_of(api_version: Any) -> str | None:
    """Return the group of an apiVersion; empty for the core group, None for what is none."""
    if not isinstance(api_version, str):
        return None
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


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
"""Returns the definitions of current that an object has met, by those that it had met before."""


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
    """
    Return a kind whose objects keep only the fields that expressions read, and what rules need.
    """
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
        index_keys=lambda each: tuple([key for rule in rules for key in rule.index_keys(each)]),
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


def _subjects(rules: Iterable[SubjectRule], each: objects.ApiObject) -> list[Subject]:
    found = (rule.find(each) for rule in rules)
    return [subject for subject in found if subject is not None]
