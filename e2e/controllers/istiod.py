"""istiod, with a template of its own for the proxies of Gateways: Envoy is not run."""

import json
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field

from e2e.controllers import released
from e2e.controlplane import ControlPlane, Json, until
from e2e.controlplane.processes import Process
from tests.support.ports import free_port


NAMESPACE = "istio-system"
WITHIN = 120
"""Seconds until it answers."""

_INJECTOR = "istio-sidecar-injector"
_TEMPLATE = """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .ServiceAccount }}
  namespace: {{ .Namespace }}
  labels:
    gateway.networking.k8s.io/gateway-name: {{ .Name }}
    gateway.networking.k8s.io/gateway-class-name: {{ .GatewayClass }}
  ownerReferences:
  - { apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, name: {{ .Name }}, uid: {{ .UID }} }
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .DeploymentName }}
  namespace: {{ .Namespace }}
  labels: &labels
    gateway.networking.k8s.io/gateway-name: {{ .Name }}
    gateway.networking.k8s.io/gateway-class-name: {{ .GatewayClass }}
    gateway.istio.io/managed: istio.io-gateway-controller
  ownerReferences:
  - { apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, name: {{ .Name }}, uid: {{ .UID }} }
spec:
  selector: { matchLabels: { gateway.networking.k8s.io/gateway-name: {{ .Name }} } }
  template:
    metadata: { labels: *labels }
    spec:
      serviceAccountName: {{ .ServiceAccount }}
      containers: [{ name: istio-proxy, image: "example.invalid/never-run:1" }]
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .DeploymentName }}
  namespace: {{ .Namespace }}
  labels:
    gateway.networking.k8s.io/gateway-name: {{ .Name }}
    gateway.networking.k8s.io/gateway-class-name: {{ .GatewayClass }}
  ownerReferences:
  - { apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, name: {{ .Name }}, uid: {{ .UID }} }
spec:
  type: {{ .ServiceType }}
  selector: { gateway.networking.k8s.io/gateway-name: {{ .Name }} }
  ports:
  {{- range .Ports }}
  - { name: {{ .Name }}, port: {{ .Port }}, protocol: TCP }
  {{- end }}
"""
"""What istiod makes of a Gateway that it accepts; the names and labels are those of its chart."""


@dataclass
class Istiod:
    """The process on a control plane that has its namespace."""

    plane: ControlPlane
    process: Process | None = None
    port: int = field(default_factory=free_port)

    def start(self) -> None:
        """Start it, or start it anew. Returns when it is ready."""
        if self.process is None:
            self.plane.client.apply(_templates())
        ports = {
            each: f"127.0.0.1:{free_port()}"
            for each in ("httpsAddr", "grpcAddr", "secureGRPCAddr", "monitoringAddr")
        }
        command = [
            str(released.find_or_take(released.ISTIOD)),
            "discovery",
            f"--kubeconfig={self.plane.kubeconfig()}",
            f"--httpAddr=127.0.0.1:{self.port}",
            *(f"--{name}={address}" for name, address in ports.items()),
            "--log_output_level=default:info",
        ]
        process = self.process = self.plane.run("istiod", command, _ENVIRONMENT)
        until(lambda: self._is_ready(process), within=WITHIN, what="istiod is ready")

    def stop(self) -> None:
        assert self.process is not None
        self.process.stop()

    def _is_ready(self, process: Process) -> bool:
        assert process.running(), process.tail()
        url = f"http://127.0.0.1:{self.port}/ready"
        with suppress(OSError), urllib.request.urlopen(url, timeout=2):
            return True
        return False


_ENVIRONMENT = {
    "POD_NAMESPACE": NAMESPACE,
    "POD_NAME": "istiod-0",
    "SERVICE_ACCOUNT": "istiod",
    "REVISION": "default",
    "CLUSTER_ID": "Kubernetes",
    "PILOT_CERT_PROVIDER": "istiod",
    "ISTIOD_CUSTOM_HOST": "localhost",
    "ENABLE_GATEWAY_API_INFERENCE_EXTENSION": "true",
    "PILOT_ENABLE_ANALYSIS": "false",
    "INJECTION_WEBHOOK_CONFIG_NAME": "",
    "VALIDATION_WEBHOOK_CONFIG_NAME": "",
}
"""The variables of its chart that matter; there are no webhooks, which would need its address."""


def _templates() -> Json:
    config = {"policy": "disabled", "templates": {"kube-gateway": _TEMPLATE}}
    data = {"config": json.dumps(config), "values": "{}"}
    metadata = {"name": _INJECTOR, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
