"""
The description of a watched kind: its place in the API, its indexes and the subjects it affects.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from sys import intern
from typing import Any

from reporter.model.kinds.base.objects import ApiObject
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


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """
    A resource of the API that is watched.

    *versions*: those whose fields the struct *type* can decode, preferred first.
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
    *namespace*, *label_selector* and *object_name* limit the watch.
    *tracks_deletions*: remember the UIDs of deleted objects. Kinds with very many objects, of which
    no probe asks whether an object of that name ever existed, do not.
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

    @property
    def group_resource(self) -> str:
        """
        The name as in a CRD and in kubectl: ``resource.group``.
        """
        # Each ObjectRef has it: one text for all of them saves some 70 bytes per finding.
        return intern(f"{self.resource}.{self.group}") if self.group else self.resource

    @property
    def is_built_in(self) -> bool:
        """
        True if every API server has this resource, without a CRD.
        """
        return "." not in self.group or self.group in BUILT_IN_DOMAINS
