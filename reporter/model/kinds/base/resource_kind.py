"""
The description of a watched kind: its place in the API, its indexes and the subjects it affects.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from sys import intern
from typing import Any

from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.scopes import describe_other_scope
from reporter.model.kinds.base.selectors import ObjectSelector
from reporter.model.subjects import Subject


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

    *versions*: those whose fields the struct *type* can decode, preferred first; if empty, any that
    is served, in the order of the API server.
    *index_keys*: the keys under which an object is found other than by name; both functions take
    objects of *type*.
    *affects*: the subjects whose verdicts may depend on an object. A subject without a name stands
    for every subject of its layer, in its namespace or everywhere. Like the keys of *referrers*, it
    reads only name, namespace, labels, owners and spec: other changes are not compared.
    *affects_by_identity*: those whose verdicts depend only on its existence, labels and deletion.
    *referrers*: where the objects are that refer to an object of this kind: their resource, and the
    key under which they are found. What they affect is affected, in any namespace.
    *spec_key_prefixes*: how the index keys begin that depend on more than the metadata, by the
    object's namespace; up to the last slash of such a key.
    *namespace*, *label_selector*, *field_selector* and *object_name* limit the watch.
    *tracks_deletions*: remember the UIDs of deleted objects. Kinds with very many objects, of which
    no probe asks whether an object of that name ever existed, do not.
    *is_declared*: a catalogue declares the kind, for its own reasons. *alias*: its name in the store and
    in metrics, if this program has a watch of the same resource for other reasons.
    *remember_current*: returns the definitions of current that an object has met, before or now; the
    store keeps them until it is deleted.
    *bounded*: returns what is kept of an object, less of one that is too large.
    *namespaced*: what a catalogue declares, at *place*; None for the kinds of this program.
    *table*: the name of its table in the store.
    """

    resource: str
    group: str
    versions: tuple[str, ...]
    kind: str
    type: type[ApiObject]
    index_keys: Callable[[Any], tuple[str, ...]]
    affects: Callable[[Any], Iterable[Subject]]
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
