"""
Where the Deployment of a component is: as configured, or where it really is.

A stack is installed in more than one way, and the default of a namespace flag is right for one of
them. So when nothing of that name is in the configured namespace, one with the same name or the
same well-known labels in another namespace is judged instead, and the flag to set is told.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from msgspec import Struct

from reporter.model.kinds.base.keys import label_key, name_key
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.stages.snapshot.snapshot import Snapshot


class ComponentSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    One Deployment of a reason.

    *name* or the flag that holds it; an empty flag switches the component off. *also_named*: other
    names that charts give it. *labels*: what charts label it with. *optional*: judged only when
    there. *with_flag*: only while this flag is not empty. *absent_with_namespace*: not judged while
    its namespace does not exist, as then the feature is not installed.
    """

    namespace_flag: str
    name: str = ""
    name_flag: str = ""
    also_named: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    optional: bool = False
    with_flag: str = ""
    absent_with_namespace: bool = False


@dataclass(frozen=True, slots=True)
class LocatedDeployment:
    """
    *found* is empty if there is none. *seen*: it was deleted while we looked.

    *note*: the flag to set, where it is not as configured; *hint*: the same in half a sentence.
    """

    namespace: str
    name: str
    deployments: tuple[Deployment, ...] = ()
    seen: bool = False
    note: str = ""
    hint: str = ""


def locate_component(
    snapshot: Snapshot, component: ComponentSpec, flags: Mapping[str, str]
) -> LocatedDeployment | None:
    """
    None for a component that is switched off.
    """
    name = component.name or flags[component.name_flag]
    if not name or (component.with_flag and not flags[component.with_flag]):
        return None
    namespace = flags[component.namespace_flag]
    for each in (name, *component.also_named):
        found = snapshot.get(DEPLOYMENTS, Deployment, namespace, each)
        if found is not None:
            return LocatedDeployment(namespace, name, (found,))
    alike = tuple(_candidates(snapshot, component, name))
    here = [d.metadata.name for d in alike if d.metadata.namespace == namespace]
    if alike and not here:
        return _located_elsewhere(component, LocatedDeployment(namespace, name, (alike[0],)))
    lost = _located_deleted(
        snapshot, LocatedDeployment(namespace, name), (name, *component.also_named)
    )
    if not here or not component.name_flag:
        return lost
    hint = f", but {namespace}/{here[0]} looks like it: set --{component.name_flag}={here[0]}"
    return replace(lost, hint=hint)


def _candidates(snapshot: Snapshot, component: ComponentSpec, name: str) -> Iterable[Deployment]:
    """
    Those of the same name first, then those with the same labels; none that is being deleted.
    """
    keys = [name_key(each) for each in (name, *component.also_named)]
    keys += [label_key(label, value) for label, value in component.labels.items()]
    for key in keys:
        for each in snapshot.by_index(DEPLOYMENTS, Deployment, key):
            if each.metadata.deletion_timestamp is None:
                yield each


def _located_elsewhere(component: ComponentSpec, there: LocatedDeployment) -> LocatedDeployment:
    found = there.deployments[0].metadata
    flags = [f"--{component.namespace_flag}={found.namespace}"]
    if component.name_flag and found.name not in (there.name, *component.also_named):
        flags.append(f"--{component.name_flag}={found.name}")
    note = (
        f"Deployment {there.namespace}/{there.name} does not exist,"
        f" {found.namespace}/{found.name} is judged instead; set {' '.join(flags)}"
    )
    return LocatedDeployment(found.namespace, found.name, there.deployments, note=note)


def _located_deleted(
    snapshot: Snapshot, wanted: LocatedDeployment, names: Collection[str]
) -> LocatedDeployment:
    """
    The one that was deleted, be it as configured or what was judged instead.
    """
    deleted = sorted(
        (ref.namespace != wanted.namespace, ref.name != wanted.name, ref)
        for ref in snapshot.deleted_uids
        if ref.resource == DEPLOYMENTS.group_resource and ref.name in names
    )
    if not deleted:
        return wanted
    ref = deleted[0][-1]
    return replace(wanted, namespace=ref.namespace, name=ref.name, seen=True)


def locate_revisions(
    snapshot: Snapshot, component: ComponentSpec, flags: Mapping[str, str]
) -> LocatedDeployment | None:
    """
    All revisions of a component that may run side by side, as ``istiod-<revision>`` does.

    One that is being deleted, or was scaled to zero while another was not, is not in use.
    """
    first = locate_component(snapshot, component, flags)
    if first is None:
        return None
    name = component.name or flags[component.name_flag]
    family = _revision_prefix(component, name)
    same = {
        each.metadata.name: each
        for key in (label_key(k, v) for k, v in component.labels.items())
        for each in snapshot.by_index(DEPLOYMENTS, Deployment, key)
        if each.metadata.namespace == first.namespace
        and _is_revision_of(each.metadata.name, family)
    }
    same |= {each.metadata.name: each for each in first.deployments}
    every = tuple(same[key] for key in sorted(same))
    kept = tuple(each for each in every if each.metadata.deletion_timestamp is None) or every
    used = tuple(each for each in kept if each.desired_replicas) or kept
    if used or first.seen:
        return replace(first, deployments=used, hint="" if used else first.hint)
    gone = {ref.name for ref in snapshot.deleted_uids if _is_revision_of(ref.name, family)}
    return _located_deleted(snapshot, first, gone)


def _revision_prefix(component: ComponentSpec, name: str) -> str:
    """
    What the names of all revisions begin with: the app's name, if the one configured does so too.
    """
    apps = (value for value in component.labels.values() if _is_revision_of(name, value))
    return next(apps, name)


def _is_revision_of(name: str, family: str) -> bool:
    return name == family or name.startswith(f"{family}-")
