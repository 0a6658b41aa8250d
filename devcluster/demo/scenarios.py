"""
The demo's scenarios: what breaks, which Event must follow, and the repair.

Each step changes the objects directly and is shown as the kubectl command that would do it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import yaml

from devcluster.controllers.crashing_kubelet import BROKEN_TAG
from devcluster.demo.folder import DemoFolder, display_path
from devcluster.storage.cluster import Cluster


CRDS = "customresourcedefinitions.apiextensions.k8s.io"
DEPLOYMENTS = "deployments.apps"
HTTP_ROUTES = "httproutes.gateway.networking.k8s.io"
IMAGE = "example/kaito-workspace"


@dataclass(frozen=True, slots=True)
class KubectlStep:
    """
    A change of the cluster and the command that is shown for it; *note* explains the command.
    """

    command: str
    apply: Callable[[], Any]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """
    A breakage and its repair. A Warning with *reason* must follow, and contain *message_contains*.
    """

    title: str
    break_steps: tuple[KubectlStep, ...]
    reason: str
    repair_steps: tuple[KubectlStep, ...]
    message_contains: str = ""


def build_scenarios(cluster: Cluster, folder: DemoFolder) -> tuple[Scenario, ...]:
    scale = partial(_scale_step, cluster)
    return (
        Scenario(
            "Body-based routing is scaled to zero.",
            (scale("kaito-system", "body-based-router", 0),),
            "clusterBBRNotReady",
            (scale("kaito-system", "body-based-router", 2),),
        ),
        _crash_scenario(cluster),
        _crd_scenario(cluster, folder),
        Scenario(
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
            message_contains="(also: clusterBBRNotReady)",
        ),
    )


def _scale_step(cluster: Cluster, namespace: str, name: str, replicas: int) -> KubectlStep:
    patch = {"spec": {"replicas": replicas}}
    return KubectlStep(
        f"kubectl scale deployment {name} -n {namespace} --replicas={replicas}",
        partial(cluster.patch, DEPLOYMENTS, namespace, name, patch, subresource="scale"),
    )


def _crash_scenario(cluster: Cluster) -> Scenario:
    return Scenario(
        "KAITO's controller gets a new image, which crashes.",
        (
            _set_image_step(
                cluster,
                BROKEN_TAG,
                "Here, containers of every image with this tag end with exit code 1.",
            ),
        ),
        "clusterKaitoControllerNotReady",
        (_set_image_step(cluster, "1"),),
        message_contains="exit code 1",
    )


def _set_image_step(cluster: Cluster, tag: str, note: str = "") -> KubectlStep:
    namespace, name = "kaito-system", "kaito-workspace"
    image = f"{IMAGE}:{tag}"

    def set_image() -> None:
        deployment = cluster.get(DEPLOYMENTS, namespace, name)
        before = deployment["spec"]["template"]["spec"]["containers"] if deployment else []
        containers = [{**each, "image": image} for each in before]
        patch = {"spec": {"template": {"spec": {"containers": containers}}}}
        cluster.patch(DEPLOYMENTS, namespace, name, patch)

    command = f"kubectl set image deployment {name} -n {namespace} {name}={image}"
    return KubectlStep(command, set_image, note)


def _crd_scenario(cluster: Cluster, folder: DemoFolder) -> Scenario:
    saved = [cluster.get(CRDS, "", HTTP_ROUTES), *cluster.list(HTTP_ROUTES)]
    folder.backup.write_text(yaml.safe_dump_all(saved, sort_keys=False), "utf-8")

    def restore() -> None:
        for manifest in saved:
            if manifest is not None:
                cluster.upsert(manifest)

    return Scenario(
        "The CRD of the HTTPRoutes is deleted, and all HTTPRoutes with it.",
        (
            KubectlStep(
                f"kubectl delete crd {HTTP_ROUTES}",
                partial(cluster.delete, CRDS, "", HTTP_ROUTES),
                "One discovery may be wrong, so the reporter repeats it after 10 s"
                " before it announces a missing CRD.",
            ),
        ),
        "clusterCRDMissing",
        (
            KubectlStep(
                f"kubectl apply --validate=false -f {display_path(folder.backup)}", restore
            ),
        ),
    )
