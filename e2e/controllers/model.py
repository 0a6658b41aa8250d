"""A team with one model, in the shape of its charts; the tests stand in for Istio where istiod is not run."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from e2e.controllers.istiod import Istiod
from e2e.controllers.keda import Scaler
from e2e.controllers.stack import INSTANCE_TYPE
from e2e.controlplane import Client, ControlPlane, Json, until
from e2e.support.production_stack.team import MODEL, TeamStack


PRESET = "phi-4-mini-instruct"
GAUGE = "- name: vllm:num_requests_waiting\n  type: gauge\n  upthreshold: 10\n  downthreshold: 1\n"
HISTOGRAM = (
    "- name: vllm:request_queue_time_seconds\n  type: histogram\n  upthreshold: 30\n"
    "  downthreshold: 1\n  metriccachewindow: 300\n"
)
"""The metrics of the chart; the scaler has no answer for the second until its window is filled."""

STARTED_WITHIN = 120
"""Seconds until a model of the example has started; the cloud answers at once, and weights are none."""


@dataclass(frozen=True)
class ModelSpec:
    """The values of the chart. *node_class*: the cloud that its machines come from. *metrics*: those by which KEDA scales."""

    preset: str = PRESET
    instance_type: str = INSTANCE_TYPE
    replicas: int = 1
    node_class: str = ""
    metrics: str = ""


@dataclass(frozen=True)
class Model:
    """
    A model and the harness around it, in a namespace of its own.

    *scaler*: what KEDA asks about it. *istiod*: who writes what Istio says of it, instead of the tests.
    """

    plane: ControlPlane
    namespace: str
    scaler: Scaler | None = None
    istiod: Istiod | None = None

    @property
    def client(self) -> Client:
        return self.plane.client

    @cached_property
    def team(self) -> TeamStack:
        return TeamStack(self.plane, self.namespace)

    def install_harness(self) -> None:
        """Install all but the InferenceSet; without an istiod, write what Istio says of it."""
        for manifest in self.team.chart_manifests():
            if manifest["kind"] != "InferenceSet":
                self.client.apply(manifest)
        if self.istiod is None:
            self.team.accept_gateway()
            self.team.program_gateway()
        self.team.authorize_api_key()
        self.team.wait_started()

    def install(self, spec: ModelSpec) -> None:
        self.client.create(self._collection, self._inference_set(spec))

    def change(self, spec: ModelSpec) -> None:
        """Upgrade the chart with other values."""
        self.client.patch(self.path, {"spec": self._inference_set(spec)["spec"]})

    def remove(self) -> None:
        self.client.delete(f"/api/v1/namespaces/{self.namespace}")

    @property
    def path(self) -> str:
        return f"{self._collection}/{MODEL}"

    @property
    def _collection(self) -> str:
        return f"/apis/kaito.sh/v1beta1/namespaces/{self.namespace}/inferencesets"

    def _inference_set(self, spec: ModelSpec) -> Json:
        annotations = {"kaito.sh/disable-benchmark": "true"}
        if spec.node_class:
            annotations["kaito.sh/node-class-name"] = spec.node_class
        metadata = {"labels": {"kaito.sh/owned-by": "modeldeployment"}, "annotations": annotations}
        return {
            "apiVersion": "kaito.sh/v1beta1",
            "kind": "InferenceSet",
            "metadata": {
                "name": MODEL,
                "namespace": self.namespace,
                "labels": {"kaito.sh/owned-by": "modeldeployment"},
                "annotations": _scaling(spec.metrics) if spec.metrics else {},
            },
            "spec": {
                "replicas": spec.replicas,
                "labelSelector": {"matchLabels": {"apps": f"{MODEL}-{self.namespace}"}},
                "template": {
                    "metadata": metadata,
                    "resource": {"instanceType": spec.instance_type},
                    "inference": {"preset": {"name": spec.preset}},
                },
            },
        }

    # ------------------------------------------------------------ what controllers make of it

    def inference_set(self) -> Json:
        return self.client.get(self.path)

    @property
    def workspaces_path(self) -> str:
        return f"/apis/kaito.sh/v1beta1/namespaces/{self.namespace}/workspaces"

    def workspaces(self) -> list[Json]:
        return self.client.list(self.workspaces_path)

    def node_claims(self) -> list[Json]:
        selector = f"karpenter.kaito.sh/workspace-namespace={self.namespace}"
        return self.client.list("/apis/karpenter.sh/v1/nodeclaims", labelSelector=selector)

    def nodes(self) -> list[Json]:
        """Return the nodes that Karpenter made for the model."""
        selector = f"karpenter.kaito.sh/workspace-namespace={self.namespace}"
        return self.client.list("/api/v1/nodes", labelSelector=selector)

    def pods(self) -> list[Json]:
        """Return the model pods, as manifests."""
        path, selector = f"/api/v1/namespaces/{self.namespace}/pods", "kaito.sh/workspace"
        found = self.client.list(path, labelSelector=selector)
        return [{"apiVersion": "v1", "kind": "Pod", **each} for each in found]

    def until_ready(self, replicas: int = 1) -> None:
        """Wait until KAITO says that so many replicas serve."""
        until(
            lambda: self.inference_set().get("status", {}).get("readyReplicas", 0) == replicas,
            within=STARTED_WITHIN,
            what=f"{replicas} replicas of {self.namespace}/{MODEL} are ready",
        )

    def until_workspace(self, condition: str, text: str) -> None:
        """Wait until a condition of a Workspace has a reason or message with this text."""

        def found() -> bool:
            return any(
                each["type"] == condition and text in f"{each['reason']} {each['message']}"
                for workspace in self.workspaces()
                for each in workspace.get("status", {}).get("conditions", [])
            )

        what = f"{condition} of a Workspace in {self.namespace} says {text!r}"
        until(found, within=STARTED_WITHIN, what=what)


def _scaling(metrics: str) -> dict[str, str]:
    values = {"auto-provision": "true", "min-replicas": "1", "max-replicas": "3"}
    values["metrics"] = metrics
    return {f"scaledobject.kaito.sh/{key}": each for key, each in values.items()}


@contextmanager
def a_model(
    plane: ControlPlane, name: str, scaler: Scaler | None = None, istiod: Istiod | None = None
) -> Iterator[Model]:
    """A harness whose model is not yet installed; with an istiod, that is not there yet either."""
    model = Model(plane, f"{name}-{secrets.token_hex(2)}", scaler, istiod)
    try:
        if istiod is None:
            model.install_harness()
        yield model
    finally:
        model.remove()
