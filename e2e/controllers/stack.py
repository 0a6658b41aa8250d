"""A production stack whose controllers are real, as long as a test needs it."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Self

import yaml

from e2e.chart.helm import Helm
from e2e.controllers import programs
from e2e.controllers.programs import KAITO, KARPENTER
from e2e.controlplane import ControlPlane, Json, Options, assets, crds, until
from e2e.controlplane.processes import Process
from e2e.support.production_stack import components
from tests.support.ports import free_port


KAITO_NAMESPACE = "kaito-system"
INSTANCE_TYPE = "Standard_NV36ads_A10_v5"
WEBHOOKS = ("validation.workspace.kaito.sh", "validation.inferenceset.kaito.sh")
NODE_CLASS = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses"
WITHIN = 120
"""Seconds until a controller has started."""

CLOUDS: dict[str, Json] = {
    "gpu": {"default": True, "spec": {}},
    "quota": {"spec": {}},
    "forbidden": {"spec": {}},
    "late": {"spec": {"nodeRegistrationDelay": "1h"}},
    "never": {"spec": {"nodeRegistrationDelay": "1h"}},
}
"""The NodeClasses, named by what their cloud does; a machine of the last two never joins."""

OPTIONS = Options(
    # KEDA ends two minutes after its start if one of its kinds is not served.
    unread_crds=True,
    apiserver_flags=(
        # A pod leaves a silent node after 5 minutes unless its own toleration says otherwise.
        "--default-not-ready-toleration-seconds=45",
        "--default-unreachable-toleration-seconds=45",
    ),
)


@dataclass
class ControllerStack:
    """The control plane, the charts and the processes. *processes*: by program."""

    plane: ControlPlane
    processes: dict[str, Process] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        """Start the stack. Yields it once its webhooks answer."""
        with ExitStack() as started:
            stack = cls(started.enter_context(ControlPlane(OPTIONS)))
            stack.install()
            yield stack

    def install(self) -> None:
        for manifest in components.manifests():
            if manifest["metadata"]["name"] != components.KAITO_WORKSPACE.name:
                self.plane.client.apply(manifest)
        self._install_node_classes()
        self.start_karpenter()
        self._install_kaito()
        self.start_kaito()
        self._prepare_clouds()
        for each in components.COMPONENTS:
            components.until_ready(self.plane.client, each)

    # ------------------------------------------------------------ Karpenter

    def start_karpenter(self) -> None:
        types = self.plane.folder / "instance-types.json"
        types.write_text(json.dumps([_instance_type(INSTANCE_TYPE)]))
        command = [
            assets.program(KARPENTER),
            f"--instance-types-file-path={types}",
            "--feature-gates=StaticCapacity=true",
            "--disable-leader-election",
            f"--metrics-port={free_port()}",
            f"--health-probe-port={free_port()}",
            "--karpenter-service=karpenter",
        ]
        env = {"KUBECONFIG": str(self.plane.kubeconfig()), "SYSTEM_NAMESPACE": "kube-system"}
        self.processes[KARPENTER] = self.plane.run(KARPENTER, command, env)

    def _install_node_classes(self) -> None:
        folder = programs.source(programs.KARPENTER_MODULE) / "kwok" / "apis" / "crds"
        found = [yaml.safe_load(each.read_text()) for each in folder.glob("*.yaml")]
        crds.install(self.plane.client, found)

    def _prepare_clouds(self) -> None:
        """Say what each cloud does; no controller writes the status of kwok's NodeClass."""
        client = self.plane.client
        ready = {"type": "Ready", "status": "True", "reason": "Ready", "message": ""}
        ready["lastTransitionTime"] = "2026-01-01T00:00:00Z"
        for name in CLOUDS:
            path = f"{NODE_CLASS}/{name}"
            until(partial(client.exists, path), within=WITHIN, what=f"{path} exists")
            client.patch(path, {"metadata": {"annotations": {"e2e/refuses": name}}})
            client.patch(f"{path}/status", {"status": {"conditions": [ready]}})

    # ------------------------------------------------------------ KAITO

    def start_kaito(self) -> None:
        """Run the program with the arguments and the account that its chart gives it."""
        deployment = components.deployment(self.plane.client, components.KAITO_WORKSPACE)
        spec = deployment["spec"]["template"]["spec"]
        container, account = spec["containers"][0], spec["serviceAccountName"]
        command = [
            assets.program(KAITO),
            *container["args"],
            f"--kubeconfig={self.plane.service_account_kubeconfig(KAITO_NAMESPACE, account)}",
            f"--metrics-bind-address=127.0.0.1:{free_port()}",
            f"--health-probe-bind-address=127.0.0.1:{free_port()}",
        ]
        env = {each["name"]: each.get("value", KAITO_NAMESPACE) for each in container["env"]}
        env["RELEASE_NAMESPACE"] = KAITO_NAMESPACE  # a pod reads it from its account's files
        self.processes[KAITO] = self.plane.run(KAITO, command, env)
        until(self._webhooks_are_known, within=WITHIN, what="KAITO has signed its webhooks")

    def _install_kaito(self) -> None:
        chart = programs.source(programs.KAITO_MODULE) / "charts" / "kaito" / "workspace"
        home = self.plane.folder / "helm"
        values = home.with_suffix(".json")
        values.write_text(json.dumps(_kaito_values(free_port())))
        helm = Helm(home, self.plane.kubeconfig())
        words = ("--namespace", KAITO_NAMESPACE, "--take-ownership", "--skip-crds")
        helm("install", "kaito", str(chart), *words, f"--values={values}")
        # The API server reaches the webhook on this machine.
        service = f"/api/v1/namespaces/{KAITO_NAMESPACE}/services/kaito-workspace-svc"
        found = self.plane.client.get(service)
        self.plane.client.delete(service)
        spec = {"type": "ExternalName", "externalName": "localhost"}
        metadata = {"name": found["metadata"]["name"], "namespace": KAITO_NAMESPACE}
        made = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
        self.plane.client.create(self.plane.client.collection(made), made)

    def _webhooks_are_known(self) -> bool:
        process = self.processes[KAITO]
        assert process.running(), process.tail()
        root = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        found = [self.plane.client.get(f"{root}/{name}") for name in WEBHOOKS]
        return all(
            hook["clientConfig"].get("caBundle") for each in found for hook in each["webhooks"]
        )


def _kaito_values(port: int) -> Json:
    classes = [{"name": name, **each} for name, each in CLOUDS.items()]
    return {
        "deploymentName": components.KAITO_WORKSPACE.name,
        "nodeProvisioner": "karpenter",
        "karpenterProvider": "kwok",
        "karpenterProviders": {
            "kwok": {
                "group": "karpenter.kwok.sh",
                "kind": "KWOKNodeClass",
                "version": "v1alpha1",
                "resourceName": "kwoknodeclasses",
                "nodeClasses": classes,
            }
        },
        "webhook": {"port": port},
        "nvidiaDevicePlugin": {"enabled": False},
        "localCSIDriver": {"useLocalCSIDriver": False},
    }


def _instance_type(name: str) -> Json:
    """Return a type of machine in the format of Karpenter's kwok provider."""
    offered = {"karpenter.sh/capacity-type": "on-demand", "topology.kubernetes.io/zone": "zone-1"}
    requirements = [
        {"key": key, "operator": "In", "values": [value]} for key, value in offered.items()
    ]
    return {
        "name": name,
        "offerings": [{"Price": 3.2, "Available": True, "Requirements": requirements}],
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {
            "cpu": "36",
            "memory": "440Gi",
            "ephemeral-storage": "600Gi",
            "pods": "110",
            "nvidia.com/gpu": "1",
        },
    }
