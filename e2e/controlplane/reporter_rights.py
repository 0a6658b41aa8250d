"""The reporter's roles in a cluster, and single rights revoked and granted again."""

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from e2e.controlplane.client import Client
from e2e.controlplane.manifests import Json
from e2e.controlplane.rules import lease, needed, rules
from e2e.controlplane.waiting import until
from reporter.catalogue.overlay import DEFAULT_PACKS
from reporter.controller.permissions import PermissionNeeds
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.access_review import Permission
from reporter.model.enums import DetailSource
from reporter.settings import ScrapeMode


NAME = "productionstack-status-reporter"
ROLES = "status-reporter-under-test"
"""The chart has a ClusterRole of the first name."""


def install(
    client: Client,
    release_namespace: str,
    sources: Collection[str] = (),
    *,
    status_objects: bool = False,
    store: ResourceKind | None = None,
    mirror: bool = False,
    packs: Collection[str] = DEFAULT_PACKS,
) -> None:
    """
    Create the namespace, the ServiceAccount and all its permissions; also restore revoked ones.
    Returns once the API server grants them.

    *store*: the kind in which episodes are kept. *packs*: those that are shipped.
    """
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": release_namespace}}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _meta(release_namespace)}
    wanted = _needed(
        release_namespace,
        sources,
        status_objects=status_objects,
        store=store,
        mirror=mirror,
        packs=packs,
    )
    for manifest in (namespace, account, *_roles_with(wanted), *_bindings(release_namespace)):
        client.apply(manifest)
    for right in sorted(wanted):
        until_allowed(client, release_namespace, right)


def roles(
    release_namespace: str,
    sources: Collection[str] = (),
    *,
    status_objects: bool = False,
    store: ResourceKind | None = None,
    mirror: bool = False,
    packs: Collection[str] = DEFAULT_PACKS,
) -> list[Json]:
    """
    Return the roles with exactly the required permissions. *sources*: those of ``--sources``.
    """
    return _roles_with(
        _needed(
            release_namespace,
            sources,
            status_objects=status_objects,
            store=store,
            mirror=mirror,
            packs=packs,
        )
    )


def _roles_with(wanted: Collection[Permission]) -> list[Json]:
    namespace = attrgetter("namespace")
    by_namespace = groupby(sorted(wanted, key=namespace), namespace)
    return [
        _role("Role" if where else "ClusterRole", where, rules(rights))
        for where, rights in by_namespace
    ]


def _needed(
    release_namespace: str,
    sources: Collection[str],
    *,
    status_objects: bool,
    store: ResourceKind | None,
    mirror: bool = False,
    packs: Collection[str] = DEFAULT_PACKS,
) -> frozenset[Permission]:
    needs = PermissionNeeds(
        lease=lease(release_namespace, NAME),
        sources=[DetailSource(each) for each in sources],
        mode=ScrapeMode.AUTO,
        status_objects=status_objects,
        mirror_events=mirror,
        store=replace(store, namespace=release_namespace) if store is not None else None,
    )
    return needed(needs, packs)


@contextlib.contextmanager
def revoked(
    client: Client,
    release_namespace: str,
    resource: str,
    *verbs: str,
    sources: Collection[str] = (),
    status_objects: bool = False,
    store: ResourceKind | None = None,
) -> Iterator[None]:
    """Revoke *verbs* (all of them, if none is named) on *resource* for a while."""
    lost = next(
        right
        for right in sorted(
            _needed(release_namespace, sources, status_objects=status_objects, store=store)
        )
        if right.resource == resource and (not verbs or right.verb in verbs)
    )
    given = roles(release_namespace, sources, status_objects=status_objects, store=store)
    for role in given:
        _replace(client, role | {"rules": _without(role["rules"], resource, verbs)})
    until_allowed(client, release_namespace, lost, allowed=False)
    try:
        yield
    finally:
        for role in given:
            _replace(client, role)
        until_allowed(client, release_namespace, lost)


def _without(rules: list[Json], resource: str, verbs: tuple[str, ...]) -> list[Json]:
    left = []
    for rule in rules:
        kept = [verb for verb in rule["verbs"] if verbs and verb not in verbs]
        if resource not in rule["resources"]:
            left.append(rule)
        elif kept:
            left.append(rule | {"verbs": kept})
    return left


def until_allowed(
    client: Client,
    release_namespace: str,
    right: Permission,
    *,
    account: str = NAME,
    allowed: bool = True,
) -> None:
    """
    Wait until the API server has read a changed role, which its watch delivers a moment later.

    *account*: the ServiceAccount in the namespace.
    """
    resource, _, subresource = right.resource.partition("/")
    attributes = {
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "verb": right.verb,
        "namespace": right.namespace,
        "name": right.name,
    }
    user = f"system:serviceaccount:{release_namespace}:{account}"
    review = {"spec": {"user": user, "resourceAttributes": attributes}}

    def answered() -> bool:
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return bool(client.create(path, review)["status"]["allowed"]) is allowed

    until(answered, within=60, what=f"{right} allowed: {allowed}")


def _replace(client: Client, role: Json) -> None:
    client.put(client.path(role), role)


def _bindings(release_namespace: str) -> Iterator[Json]:
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": release_namespace}
    for role in roles(release_namespace):
        yield {
            "apiVersion": role["apiVersion"],
            "kind": f"{role['kind']}Binding",
            "metadata": role["metadata"],
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": role["kind"],
                "name": ROLES,
            },
            "subjects": [subject],
        }


def _role(kind: str, namespace: str, rules: list[Json]) -> Json:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {**_meta(namespace), "name": ROLES},
        "rules": rules,
    }


def _meta(namespace: str) -> Json:
    return {"name": NAME} | ({"namespace": namespace} if namespace else {})
