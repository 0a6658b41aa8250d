"""
The location of a component's Deployment: as configured, or where it really is.

Stacks are installed in more than one way, and the default of a namespace flag fits only one of them.
If the configured namespace has no Deployment of that name, a Deployment elsewhere with the same name
or the same well-known labels is evaluated instead, and a note says which flag to set.
"""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.objects import label_key, name_key
from reporter.resources.conditions import exclude_deleting
from reporter.snapshot.snapshot import Snapshot


class ComponentSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    One Deployment that a reason is about; part of a catalogue entry's parameters.

    *name*, or *name_flag* with the flag that holds it; an empty flag switches the component off.
    *also_named*: other names that charts use. *labels*: labels that charts set.
    *optional*: evaluated only if it exists. *with_flag*: evaluated only while this flag is set.
    *absent_with_namespace*: the component counts as not installed while its namespace does not exist.
    """

    namespace_flag: str
    name: str = ""
    name_flag: str = ""
    also_named: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    optional: bool = False
    with_flag: str = ""
    absent_with_namespace: bool = False


class LocatedDeployment(Struct, frozen=True):
    """
    The Deployments that were found for a component, and the place of the component.

    *deployments*: empty if there is none.
    *was_deleted*: the Deployment was deleted while the reporter watched.
    *note*: the flags to set, if the Deployment is not where they say.
    *hint*: the end of a sentence about a missing Deployment, which names a similar one.
    """

    namespace: str
    name: str
    deployments: tuple[Deployment, ...] = ()
    was_deleted: bool = False
    note: str = ""
    hint: str = ""


def locate_component(
    snapshot: Snapshot, component: ComponentSpec, flags: Mapping[str, str]
) -> LocatedDeployment | None:
    """Find the Deployment of a component; None if the component is switched off."""
    if _flags_to_set(component, flags):
        return None
    name = component.name or flags[component.name_flag]
    namespace = flags[component.namespace_flag]
    names = (name, *component.also_named)
    for each in names:
        deployment = snapshot.get(DEPLOYMENTS, Deployment, namespace, each)
        if deployment is not None:
            return LocatedDeployment(namespace, name, (deployment,))
    candidates = tuple(_candidates(snapshot, component, name))
    same_namespace = [d.metadata.name for d in candidates if d.metadata.namespace == namespace]
    if candidates and not same_namespace:
        return _located_elsewhere(component, namespace, name, candidates[0])
    missing = _located_deleted(snapshot, LocatedDeployment(namespace, name), names)
    if not same_namespace or not component.name_flag:
        return missing
    # A similar one in the configured namespace may be another component, so it is only suggested.
    similar = same_namespace[0]
    hint = f", but {namespace}/{similar} looks like it: set --{component.name_flag}={similar}"
    return replace(missing, hint=hint)


def why_switched_off(components: Iterable[ComponentSpec], flags: Mapping[str, str]) -> str:
    """Return what to set if every component is switched off; empty if any is not."""
    missing = [_flags_to_set(component, flags) for component in components]
    if not all(missing):
        return ""
    names = sorted({name for each in missing for name in each})
    return f"set {' and '.join(f'--{name}' for name in names)}"


def _flags_to_set(component: ComponentSpec, flags: Mapping[str, str]) -> tuple[str, ...]:
    """Return the empty flags that switch a component off; none if it is on."""
    switches = (component.name_flag, component.with_flag, component.namespace_flag)
    return tuple(name for name in switches if name and not flags[name])


def _candidates(snapshot: Snapshot, component: ComponentSpec, name: str) -> Iterable[Deployment]:
    """Yield Deployments of the same name in any namespace, then those with the same labels."""
    keys = [name_key(each) for each in (name, *component.also_named)]
    keys += [label_key(label, value) for label, value in component.labels.items()]
    for key in keys:
        yield from exclude_deleting(snapshot.by_index(DEPLOYMENTS, Deployment, key))


def _located_elsewhere(
    component: ComponentSpec, namespace: str, name: str, deployment: Deployment
) -> LocatedDeployment:
    """Build the location of a Deployment that is not at the configured *namespace* and *name*."""
    meta = deployment.metadata
    flags = [f"--{component.namespace_flag}={meta.namespace}"]
    if component.name_flag and meta.name not in (name, *component.also_named):
        flags.append(f"--{component.name_flag}={meta.name}")
    note = (
        f"Deployment {namespace}/{name} does not exist,"
        f" {meta.namespace}/{meta.name} is judged instead; set {' '.join(flags)}"
    )
    return LocatedDeployment(meta.namespace, meta.name, (deployment,), note=note)


def _located_deleted(
    snapshot: Snapshot, configured: LocatedDeployment, names: Collection[str]
) -> LocatedDeployment:
    """
    Return the location of a deleted Deployment of one of these names, else the configured one.

    The configured namespace and name come first; another one may have been evaluated instead of it.
    """
    deleted = sorted(
        (ref.namespace != configured.namespace, ref.name != configured.name, ref)
        for ref in snapshot.deleted_uids
        if ref.resource == DEPLOYMENTS.group_resource and ref.name in names
    )
    if not deleted:
        return configured
    ref = deleted[0][-1]
    return replace(configured, namespace=ref.namespace, name=ref.name, was_deleted=True)


def locate_revisions(
    snapshot: Snapshot, component: ComponentSpec, flags: Mapping[str, str]
) -> LocatedDeployment | None:
    """
    Find the Deployments of all revisions of a component that are in use, such as ``istiod-<revision>``.

    Several may run side by side. One that is being deleted, or is scaled to zero, counts only if there is
    no other. None if the component is switched off.
    """
    located = locate_component(snapshot, component, flags)
    if located is None:
        return None
    name = component.name or flags[component.name_flag]
    prefix = _revision_prefix(component, name)
    revisions = {
        each.metadata.name: each
        for key in (label_key(label, value) for label, value in component.labels.items())
        for each in snapshot.by_index(DEPLOYMENTS, Deployment, key)
        if each.metadata.namespace == located.namespace
        and _is_revision_of(each.metadata.name, prefix)
    }
    revisions |= {each.metadata.name: each for each in located.deployments}
    all_revisions = tuple(revisions[key] for key in sorted(revisions))
    remaining = exclude_deleting(all_revisions) or all_revisions
    used = tuple(each for each in remaining if each.desired_replicas) or remaining
    if used or located.was_deleted:
        return replace(located, deployments=used, hint="" if used else located.hint)
    deleted = {ref.name for ref in snapshot.deleted_uids if _is_revision_of(ref.name, prefix)}
    return _located_deleted(snapshot, located, deleted)


def _revision_prefix(component: ComponentSpec, name: str) -> str:
    """
    Return the common prefix of all revisions: the app label, if the configured name begins with it.
    """
    apps = (value for value in component.labels.values() if _is_revision_of(name, value))
    return next(apps, name)


def _is_revision_of(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(f"{prefix}-")
