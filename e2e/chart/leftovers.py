"""Check that an uninstalled release leaves nothing in the cluster."""

import yaml

from e2e.chart import crds as chart_crds
from e2e.controlplane import ControlPlane, crds, until


KINDS = (
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/replicasets",
    "/apis/coordination.k8s.io/v1/leases",
    "/apis/networking.k8s.io/v1/networkpolicies",
    "/apis/policy/v1/poddisruptionbudgets",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/rbac.authorization.k8s.io/v1/roles",
    "/apis/rbac.authorization.k8s.io/v1/rolebindings",
    "/api/v1/configmaps",
    "/api/v1/pods",
    "/api/v1/secrets",
    "/api/v1/serviceaccounts",
    "/api/v1/services",
)


def until_nothing_is_left(plane: ControlPlane, namespace: str, *more: str) -> None:
    """
    Wait until nothing is left; the garbage collector deletes owned objects a moment later.

    *more*: paths of further kinds.
    """
    kinds = (*KINDS, *more)

    def gone() -> bool:
        return not left_over(plane, namespace, kinds)

    try:
        until(gone, within=120, what="nothing is left")
    except AssertionError as err:
        raise AssertionError(f"{err}: {left_over(plane, namespace, kinds)}") from err


def left_over(plane: ControlPlane, namespace: str, kinds: tuple[str, ...]) -> list[str]:
    """List what is left of releases in *namespace*. Every Lease there is taken for theirs."""
    return [
        f"{path} {meta['name']}"
        for path in kinds
        for meta in (each["metadata"] for each in plane.client.list(path))
        if meta.get("labels", {}).get("app.kubernetes.io/managed-by") == "Helm"
        or "-status-reporter" in meta["name"].removeprefix("productionstack-status-reporter")
        or meta["name"].startswith("sh.helm.release")
        or (path.endswith("/leases") and meta["namespace"] == namespace)
    ]


def remove_kept_crds(plane: ControlPlane) -> None:
    """Delete the CRDs of the chart, which an uninstalled release leaves."""
    for text in chart_crds.contents().values():
        name = yaml.safe_load(text)["metadata"]["name"]
        if plane.client.exists(f"{crds.PATH}/{name}"):
            crds.remove(plane.client, name)
