"""The description of a watched kind: its place in the API, selectors, indexes, and whom it affects."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from sys import intern
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from reporter.kinds.objects import ApiObject
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef


_LABEL_TERM = re.compile(
    r"\s*(?:(?P<absent>!)\s*(?P<no>[\w./-]+)"
    r"|(?P<key>[\w./-]+)(?:\s*(?P<set>\bin\b|\bnotin\b)\s*\((?P<values>[^()]*)\)"
    r"|\s*(?P<order>[<>])\s*(?P<bound>-?\d+)"
    r"|\s*(?P<sign>==|=|!=)\s*(?P<value>[\w.-]*)"
    r"|\s+(?P<stray>[^\s,]+))?)\s*(?:,|$)"
)


class SelectorError(ValueError):
    """Raised for a selector that cannot be parsed, with why."""


class LabelRequirement(Struct, frozen=True):
    """
    A requirement of a label selector: the value of *key* is in *values*.

    If it is not *wanted*, the value is not in them. *values*: None if the key must exist; if that is not
    *wanted*, it must not. *bound*: the value must be a number above it; if that is not *wanted*, below it.
    """

    key: str
    values: frozenset[str] | None
    wanted: bool = True
    bound: int | None = None

    def matches(self, labels: Mapping[str, Any]) -> bool:
        """
        Return whether labels meet this.

        An object without the label meets every notin and !=, and no bound.
        """
        if self.bound is not None:
            return self._is_beyond(labels.get(self.key))
        if self.values is None:
            return (self.key in labels) is self.wanted
        if self.key not in labels:
            return not self.wanted
        return (labels[self.key] in self.values) is self.wanted

    def _is_beyond(self, value: object) -> bool:
        if self.bound is None or not isinstance(value, str) or not value.isdecimal():
            return False
        return int(value) > self.bound if self.wanted else int(value) < self.bound


class FieldRequirement(Struct, frozen=True):
    """A requirement of a field selector: the value at a path is this text, or is not."""

    field: str
    value: str
    wanted: bool

    def matches(self, content: Mapping[str, Any]) -> bool:
        """
        Return whether the field of an object, as its JSON has it, meets this.

        An absent field is empty, 0 and false at once.
        """
        return (self.value in _texts_at(self.field, content)) is self.wanted


def parse_labels(text: str) -> tuple[LabelRequirement, ...]:
    """Return the requirements of a label selector, none for an empty one. Raise SelectorError."""
    if not text.strip():
        return ()
    requirements: list[LabelRequirement] = []
    position = 0
    while position < len(text):
        term = _LABEL_TERM.match(text, position)
        if term is None:
            found = f"found '{text[position:]}', expected: identifier"
            raise SelectorError(f"unable to parse requirement: {found}")
        requirements.append(_label_requirement(term))
        position = term.end()
    if text.rstrip().endswith(","):
        raise SelectorError("found '', expected: identifier after ','")
    return tuple(requirements)


def _label_requirement(term: re.Match[str]) -> LabelRequirement:
    if term["stray"]:
        expected = "expected: in, notin, =, ==, !=, gt, lt"
        raise SelectorError(f"unable to parse requirement: found '{term['stray']}', {expected}")
    if term["absent"]:
        return LabelRequirement(term["no"], None, wanted=False)
    if term["set"]:
        values = frozenset(value.strip() for value in term["values"].split(","))
        return LabelRequirement(term["key"], values, wanted=term["set"] == "in")
    if term["order"]:
        wanted, bound = term["order"] == ">", int(term["bound"])
        return LabelRequirement(term["key"], None, wanted=wanted, bound=bound)
    if term["sign"]:
        return LabelRequirement(
            term["key"], frozenset({term["value"]}), wanted=term["sign"] != "!="
        )
    return LabelRequirement(term["key"], None)


def parse_fields(text: str) -> tuple[FieldRequirement, ...]:
    """Return the requirements of a field selector, none for an empty one. Raise SelectorError."""
    requirements = []
    for part in re.split(r"(?<!\\),", text):
        if not part:
            continue
        term = re.fullmatch(r"([^=!]+)(==|=|!=)(.*)", part, re.DOTALL)
        if term is None:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
        value = re.sub(r"\\([\\,=])", r"\1", term[3])
        requirements.append(FieldRequirement(term[1], value, term[2] != "!="))
    return tuple(requirements)


def _texts_at(field: str, content: Mapping[str, Any]) -> frozenset[str]:
    """Return the text that the API server compares; for an absent value that of each empty one."""
    found: object = content
    for part in field.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    if found is None:
        return frozenset({"", "0", "false"})
    return frozenset({str(found).lower() if isinstance(found, bool) else str(found)})


class ObjectSelector(Struct, frozen=True):
    """The selection of a watch, to apply it to objects of a dump. *namespace*: empty for all."""

    namespace: str = ""
    labels: tuple[LabelRequirement, ...] = ()
    fields: tuple[FieldRequirement, ...] = ()

    @classmethod
    def parse(cls, namespace: str, labels: str, fields: str) -> "ObjectSelector":
        """
        Build a selection from texts as a watch takes them. Raise SelectorError for a malformed one.
        """
        return cls(namespace, parse_labels(labels), parse_fields(fields))

    def matches(self, content: Mapping[str, Any]) -> bool:
        """Return whether an object is selected. *content*: as its JSON has it."""
        metadata = content.get("metadata")
        meta = metadata if isinstance(metadata, Mapping) else {}
        if self.namespace and meta.get("namespace") != self.namespace:
            return False
        given = meta.get("labels")
        pairs = given.items() if isinstance(given, Mapping) else ()
        labels = {name: value for name, value in pairs if isinstance(value, str)}
        return all(each.matches(labels) for each in self.labels) and all(
            each.matches(content) for each in self.fields
        )


CORE_SCOPES: Mapping[str, bool] = MappingProxyType(
    {
        "configmaps": True,
        "endpoints": True,
        "events": True,
        "limitranges": True,
        "persistentvolumeclaims": True,
        "pods": True,
        "podtemplates": True,
        "replicationcontrollers": True,
        "resourcequotas": True,
        "serviceaccounts": True,
        "services": True,
        "componentstatuses": False,
        "namespaces": False,
        "nodes": False,
        "persistentvolumes": False,
    }
)
"""
The resources of the core group, and whether they have namespaces (API reference). The group is not
among those that are discovered, and its resources never change their scope.
"""


def describe_other_scope(kind: str, *, namespaced: bool) -> str:
    """
    Return the text that a kind is declared with the wrong scope, and what to do.

    *namespaced*: whether its objects have namespaces in fact.
    """
    if namespaced:
        return f"{kind} is declared without namespaces, and has them; remove `namespaced: false`"
    return f"{kind} is declared with namespaces, and has none; add `namespaced: false`"


SILENCE_PREFIX = "reporter.productionstack.kaito.sh/silence-"
SILENCE_FIELDS = ("until", "reasons", "why", "by")
SILENCE_KEY = "silenced"
"""The index key of the objects with such an annotation or label."""


def silence_annotations(each: ApiObject) -> Mapping[str, str]:
    """Return the annotations about a silence, by what follows the prefix."""
    # An object of which only the metadata could be decoded has no annotations.
    annotations = getattr(each.metadata, "annotations", None)
    return silence_fields(annotations)


def silence_labels(each: ApiObject) -> Mapping[str, str]:
    """Return the labels about a silence, by what follows the prefix."""
    return silence_fields(each.metadata.labels)


def silence_fields(values: Mapping[str, str] | None) -> Mapping[str, str]:
    """
    Return the annotations or labels that begin with SILENCE_PREFIX, by what follows it.

    Misspelled ones, which are not in SILENCE_FIELDS, are among them.
    """
    return {
        name.removeprefix(SILENCE_PREFIX): value
        for name, value in (values or {}).items()
        if name.startswith(SILENCE_PREFIX)
    }


def silence_keys(each: ApiObject) -> tuple[str, ...]:
    """Return the index keys of an object that silences something; none for any other."""
    return (SILENCE_KEY,) if silence_annotations(each) or silence_labels(each) else ()


BUILT_IN_DOMAINS = (
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
)
"""
The groups with a domain that an API server has without a CRD (API reference, "API Groups"). The
group of a CRD always has one, but those of Kubernetes' own projects are in k8s.io as well.
"""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ResourceKind:
    """
    A resource of the API that is watched.

    *affects* and the functions of *referrers* may read nothing of an object but its name, namespace,
    labels, owners and spec. `affected_subjects` of store/store.py relies on that: if none of these has
    changed, it asks them about the new version of the object alone.

    *versions*: those whose fields the struct *type* can decode, preferred first; if empty, any that
    is served, in the order of the API server.
    *index_keys*: the keys under which an object is found other than by name, none if it is only read
    by name or with all others; the functions take objects of *type*.
    *affects*: the subjects whose verdicts may depend on an object. A subject without a name stands
    for every subject of its layer, in its namespace or everywhere.
    *affects_by_identity*: the further subjects whose verdicts depend only on the existence, the labels
    and the deletion of an object.
    *referrers*: for each kind whose objects refer to an object of this one, their resource and a
    function that returns the index key under which they are found. The subjects that they affect are
    affected too, in any namespace.
    *spec_key_prefixes*: functions that return, for the namespace of an object, how its index keys from
    the spec begin, up to their last slash. By these an object is found whose spec cannot be decoded.
    *namespace*, *label_selector*, *field_selector* and *object_name* limit the watch.
    *tracks_deletions*: remember the UIDs of deleted objects. Kinds with very many objects, of which
    no probe asks whether an object of that name ever existed, do not.
    *is_declared*: a catalogue declares the kind, for its own reasons. *alias*: its name in the store and
    in metrics, if this program has a watch of the same resource for other reasons.
    *remember_current*: takes an object and the ids of the `current` expressions that it has met before,
    and returns those that it has met now or before; the store keeps them until it is deleted.
    *bounded*: returns what the store keeps of an object, such as its metadata alone if it is too large;
    None if the store keeps all of it.
    *namespaced*: what a catalogue declares, at *place*; None for the kinds of this program.
    *table*: the name of its table in the store.
    """

    resource: str
    group: str
    versions: tuple[str, ...]
    kind: str
    type: type[ApiObject]
    affects: Callable[[Any], Iterable[Subject]]
    index_keys: Callable[[Any], tuple[str, ...]] = lambda _: ()
    affects_by_identity: Callable[[Any], Iterable[Subject]] = lambda _: ()
    referrers: tuple[tuple[str, Callable[[Any], str]], ...] = ()
    spec_key_prefixes: tuple[Callable[[str], str], ...] = ()
    namespace: str = ""
    label_selector: str = ""
    object_name: str = ""
    tracks_deletions: bool = True
    field_selector: str = ""
    is_declared: bool = False
    alias: str = ""
    remember_current: Callable[[Any, frozenset[str]], frozenset[str]] | None = None
    bounded: Callable[[Any], ApiObject] | None = None
    namespaced: bool | None = None
    place: str = field(default="", compare=False)
    table: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        # An attribute, as a pass reads it tens of times for each subject.
        object.__setattr__(self, "table", self.alias or self.resource)

    @property
    def group_resource(self) -> str:
        """The name as in a CRD and in kubectl: ``resource.group``."""
        # Each ObjectRef has it: one text for all of them saves some 70 bytes per finding.
        return intern(f"{self.resource}.{self.group}") if self.group else self.resource

    def ref(self, namespace: str, name: str) -> ObjectRef:
        """Return the reference to an object by name; *namespace* is empty if it has none."""
        return ObjectRef(self.group_resource, namespace, name)

    def ref_to(self, about: ApiObject) -> ObjectRef:
        """Return the reference to an object of this kind that is at hand."""
        return ObjectRef(self.group_resource, about.metadata.namespace, about.metadata.name)

    @property
    def selector(self) -> ObjectSelector:
        """The selection of its watch. Raises SelectorError."""
        name = f"metadata.name={self.object_name}" if self.object_name else ""
        fields = name or self.field_selector
        return ObjectSelector.parse(self.namespace, self.label_selector, fields)

    @property
    def watch_name(self) -> str:
        """The name of its watch, in metrics and in references of the store to its objects."""
        return self.alias or self.group_resource

    @property
    def is_built_in(self) -> bool:
        """
        True if every API server has this resource, without a CRD.

        A catalogue may declare a kind of such a group that only newer API servers have.
        """
        return self.has_built_in_group and not (self.is_declared and self.group)

    @property
    def has_built_in_group(self) -> bool:
        """True if the resource is in a group that no CRD has."""
        return "." not in self.group or self.group in BUILT_IN_DOMAINS

    def why_misdeclared(self, *, namespaced: bool | None) -> str:
        """
        Return why the kind cannot be read as it is declared, and what to do; empty if it can.

        Without its namespace an object makes no subject, and none is found by its name.

        *namespaced*: what the API server answers; None if it does not.
        """
        if namespaced is None or self.namespaced in (None, namespaced):
            return ""
        return f"{self.place}: {describe_other_scope(self.kind, namespaced=namespaced)}"

    def readable_versions(self, served: Iterable[str]) -> tuple[str, ...]:
        """
        Return the versions, of those that are served, in which objects can be decoded; the best first.
        """
        if not self.versions:
            return tuple(served)
        known = frozenset(served)
        return tuple(version for version in self.versions if version in known)
