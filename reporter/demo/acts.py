"""
What is broken and mended, in order, and which Event must tell of it.

Each step is done to the cluster's objects by hand and shown as the kubectl command that does it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import yaml

from reporter.demo.folder import Folder, shown
from reporter.demo.kubelet import BROKEN
from reporter.embedded.cluster import Cluster


CRDS = "customresourcedefinitions.apiextensions.k8s.io"
DEPLOYMENTS = "deployments.apps"
ROUTES = "httproutes.gateway.networking.k8s.io"
IMAGE = "example/kaito-workspace"


@dataclass(frozen=True, slots=True)
class Step:
    """
    *note*: what the command does not tell.
    """

    command: str
    do: Callable[[], Any]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """
    *reason*: of the Warning that must come, with *saying* in its message.
    """

    title: str
    breaking: tuple[Step, ...]
    reason: str
    mending: tuple[Step, ...]
    saying: str = ""


def acts(cluster: Cluster, folder: Folder) -> tuple[Act, ...]:
    scale = partial(_scale, cluster)
    return (
        Act(
            "Body-based routing is scaled to zero.",
            (scale("kaito-system", "body-based-router", 0),),
            "clusterBBRNotReady",
            (scale("kaito-system", "body-based-router", 2),),
        ),
        _crash(cluster),
        _crd(cluster, folder),
        Act(
            "Istio and body-based routing are scaled to zero at once: one Event names both.",
            (
                scale("istio-system", "istiod", 0),
                scale("kaito-system", "body-based-router", 0),
            ),
            "clusterIstioControlPlaneNotReady",
            (
                scale("istio-system", "istiod", 1),
                scale("kaito-system", "body-based-router", 2),
            ),
            saying="(also: clusterBBRNotReady)",
        ),
    )


def _scale(cluster: Cluster, namespace: str, name: str, replicas: int) -> Step:
    patch = {"spec": {"replicas": replicas}}
    return Step(
        f"kubectl scale deployment {name} -n {namespace} --replicas={replicas}",
        partial(cluster.patch, DEPLOYMENTS, namespace, name, patch, subresource="scale"),
    )


def _crash(cluster: Cluster) -> Act:
    return Act(
        "KAITO's controller gets a new image, which crashes.",
        (
            _set_image(
                cluster,
                BROKEN,
                "Here, containers of every image with this tag end with exit code 1.",
            ),
        ),
        "clusterKaitoControllerNotReady",
        (_set_image(cluster, "1"),),
        saying="exit code 1",
    )


def _set_image(cluster: Cluster, tag: str, note: str = "") -> Step:
    namespace, name = "kaito-system", "kaito-workspace"
    image = f"{IMAGE}:{tag}"

    def set_image() -> None:
        deployment = cluster.get(DEPLOYMENTS, namespace, name)
        before = deployment["spec"]["template"]["spec"]["containers"] if deployment else []
        containers = [{**each, "image": image} for each in before]
        patch = {"spec": {"template": {"spec": {"containers": containers}}}}
        cluster.patch(DEPLOYMENTS, namespace, name, patch)

    command = f"kubectl set image deployment {name} -n {namespace} {name}={image}"
    return Step(command, set_image, note)


def _crd(cluster: Cluster, folder: Folder) -> Act:
    saved = [cluster.get(CRDS, "", ROUTES), *cluster.list(ROUTES)]
    folder.backup.write_text(yaml.safe_dump_all(saved, sort_keys=False), "utf-8")

    def restore() -> None:
        for manifest in saved:
            if manifest is not None:
                cluster.put(manifest)

    return Act(
        "The CRD of the HTTPRoutes is deleted, and all HTTPRoutes with it.",
        (
            Step(
                f"kubectl delete crd {ROUTES}",
                partial(cluster.delete, CRDS, "", ROUTES),
                "One look at what the API server serves proves nothing: the reporter takes"
                " a second one 10 s later.",
            ),
        ),
        "clusterCRDMissing",
        (Step(f"kubectl apply --validate=false -f {shown(folder.backup)}", restore),),
    )
