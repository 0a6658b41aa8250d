"""CustomResourceDefinitions, taken away and given back."""

from collections.abc import Iterable
from functools import partial

from e2e.controlplane.client import ApiError, Client
from e2e.controlplane.manifests import Json
from e2e.controlplane.options import Options
from e2e.controlplane.waiting import until
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS


PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GONE_WITHIN = 120
"""
The API server alone waits up to 60 s for the objects of a CRD to go, and begins again when its storage
was not ready (apiextensions-apiserver, pkg/controller/finalizer/crd_finalizer.go).
"""


def name(crd: Json) -> str:
    return str(crd["metadata"]["name"])


def wanted(crds: Iterable[Json], options: Options) -> list[Json]:
    """Return the CRDs of a control plane."""
    left = chosen(crds, options.without_crds)
    return left if options.unread_crds else read(left)


def chosen(crds: Iterable[Json], without: Iterable[str]) -> list[Json]:
    """
    Return the CRDs of these names or groups. Raises KeyError for a name that matches neither.
    """
    excluded, left, seen = set(without), [], set()
    for crd in crds:
        names = {name(crd), crd["spec"]["group"]}
        seen |= names
        if not names & excluded:
            left.append(crd)
    if unknown := excluded - seen:
        raise KeyError(f"no such CRD or group: {sorted(unknown)}")
    return left


def read(crds: Iterable[Json]) -> list[Json]:
    """Return the CRDs of kinds that the reporter reads, also with every source switched on."""
    names = {f"{each.resource}.{each.group}" for each in (*DEFAULT_KINDS, *OPTIONAL_KINDS)}
    return [crd for crd in crds if name(crd) in names]


def install(client: Client, crds: Iterable[Json]) -> None:
    """Install CRDs. Returns when all of them are served."""
    new = list(crds)
    for crd in new:
        client.create(PATH, crd)
    until_served(client, new)


def until_served(client: Client, crds: Iterable[Json]) -> None:
    for crd in crds:
        until(partial(served, client, crd), within=60, what=f"{name(crd)} is served")


def remove(client: Client, removed: str) -> None:
    """
    Delete a CRD and all its objects. Returns when it is deleted and no longer served: a request in
    the moment between is answered from the storage of the deleted one, also if there is a new one.
    """
    path = f"{PATH}/{removed}"
    crd = client.get(path)
    client.delete(path)
    until(lambda: not client.exists(path), within=GONE_WITHIN, what=f"{removed} is gone")
    if any(each["served"] for each in crd["spec"]["versions"]):
        until(lambda: not served(client, crd), within=60, what=f"{removed} is not served")


def served(client: Client, crd: Json) -> bool:
    spec = crd["spec"]
    version = next(each["name"] for each in spec["versions"] if each["served"])
    try:
        client.get(f"/apis/{spec['group']}/{version}/{spec['names']['plural']}", limit="1")
    except ApiError:
        return False
    return True
