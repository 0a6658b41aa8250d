"""
KEDA's operator and metrics server, and a scaler in the place of KAITO's own.

keda-kaito-scaler is not run. It makes ScaledObjects and answers KEDA; here a test makes them, and a page of
this process answers.
"""

import base64
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

from e2e.controllers import programs
from e2e.controllers.programs import KEDA, KEDA_METRICS
from e2e.controlplane import ControlPlane, Json, assets, until
from e2e.controlplane.processes import Process
from tests.support.ports import free_port


NAMESPACE = "keda"
OPERATOR, METRICS_SERVER = "keda-operator", "keda-metrics-apiserver"
WITHIN = 120
"""Seconds until a program has started: the operator makes its certificates first."""

_SECRET = f"/api/v1/namespaces/{NAMESPACE}/secrets/kedaorg-certs"
_API_SERVICE = "/apis/apiregistration.k8s.io/v1/apiservices"
_EXTERNAL_METRICS = "v1beta1.external.metrics.k8s.io"


class Scaler:
    """A page with the number that the trigger asks for, or an error while it *fails*."""

    def __init__(self) -> None:
        self.fails = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/"

    def end(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        scaler = self

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = b"" if scaler.fails else json.dumps({"waiting": 0}).encode()
                self.send_response(503 if scaler.fails else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Page


@dataclass
class Keda:
    """The processes of KEDA on a control plane that has its namespace."""

    plane: ControlPlane
    processes: dict[str, Process] = field(default_factory=dict)
    operator_port: int = field(default_factory=free_port)
    metrics_port: int = field(default_factory=free_port)

    def start(self) -> None:
        """Start both. Returns when the API server gets metrics of them."""
        self._install()
        self.start_operator()
        self._write_certificates()
        ended = self.processes[KEDA]  # it ends once it has made them, and finds them the next time
        until(lambda: not ended.running(), within=WITHIN, what="KEDA ends to be started anew")
        self.start_operator()
        self._start_metrics_server()
        until(self._serves_metrics, within=WITHIN, what="the API server gets external metrics")

    def check(self) -> None:
        """Raise AssertionError with the end of its log if a process has ended."""
        for each in self.processes.values():
            assert each.running(), each.tail()

    def start_operator(self) -> None:
        command = [
            assets.program(KEDA),
            f"--kubeconfig={self.plane.kubeconfig()}",
            f"--metrics-bind-address=127.0.0.1:{free_port()}",
            f"--health-probe-bind-address=127.0.0.1:{free_port()}",
            f"--metrics-service-bind-address=127.0.0.1:{self.operator_port}",
            "--enable-cert-rotation=true",
            "--enable-webhook-patching=false",
            f"--cert-dir={self._certificates}",
        ]
        self._certificates.mkdir(exist_ok=True)
        self.processes[KEDA] = self.plane.run(KEDA, command, _ENVIRONMENT)

    def _start_metrics_server(self) -> None:
        config, certificates = self.plane.kubeconfig(), self._certificates
        command = [
            assets.program(KEDA_METRICS),
            *(f"--{each}kubeconfig={config}" for each in _KUBECONFIGS),
            "--authentication-skip-lookup",
            f"--secure-port={self.metrics_port}",
            f"--port={free_port()}",
            f"--tls-cert-file={certificates / 'tls.crt'}",
            f"--tls-private-key-file={certificates / 'tls.key'}",
            f"--cert-dir={certificates}",
            f"--metrics-service-address=127.0.0.1:{self.operator_port}",
            f"--metrics-service-grpc-authority={OPERATOR}.{NAMESPACE}.svc",
        ]
        self.processes[KEDA_METRICS] = self.plane.run(KEDA_METRICS, command, _ENVIRONMENT)

    @property
    def _certificates(self) -> Path:
        return self.plane.folder / "keda-certificates"

    def _write_certificates(self) -> None:
        """Write the files that a kubelet mounts."""
        client = self.plane.client
        found = until(
            lambda: client.exists(_SECRET) and client.get(_SECRET).get("data"),
            within=WITHIN,
            what="KEDA has made its certificates",
        )
        for name, content in found.items():
            (self._certificates / name).write_bytes(base64.b64decode(content))

    def _install(self) -> None:
        """Install the rights and the service of its metrics, whose Service is on this machine."""
        folder = programs.source(programs.KEDA_MODULE) / "config" / "metrics-server"
        metadata = {"name": METRICS_SERVER, "namespace": NAMESPACE}
        spec = {"type": "ExternalName", "externalName": "localhost"}
        made: list[Json] = [
            {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec},
            *yaml.safe_load_all((folder / "role.yaml").read_text()),
            *yaml.safe_load_all((folder / "role_binding.yaml").read_text()),
            *_ANONYMOUS_MAY_READ,
            self._api_service(yaml.safe_load((folder / "api_service.yaml").read_text())),
        ]
        for each in made:
            self.plane.client.apply(each)

    def _api_service(self, manifest: Json) -> Json:
        manifest["spec"]["service"]["port"] = self.metrics_port
        return manifest

    def _serves_metrics(self) -> bool:
        status = self.plane.client.get(f"{_API_SERVICE}/{_EXTERNAL_METRICS}").get("status", {})
        conditions = {each["type"]: each["status"] for each in status.get("conditions", [])}
        return conditions.get("Available") == "True"


_KUBECONFIGS = ("", "lister-", "authentication-", "authorization-")
_ENVIRONMENT = {
    "POD_NAMESPACE": NAMESPACE,
    "KEDA_CLUSTER_OBJECT_NAMESPACE": NAMESPACE,
    "WATCH_NAMESPACE": "",
}
_ROLE = "anonymous-reads-external-metrics"
_ANONYMOUS_MAY_READ: list[Json] = [
    # The API server of the tests has no certificate with which it tells KEDA who asks.
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": _ROLE},
        "rules": [
            {"nonResourceURLs": ["*"], "verbs": ["get"]},
            {"apiGroups": ["external.metrics.k8s.io"], "resources": ["*"], "verbs": ["*"]},
        ],
    },
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": _ROLE},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": _ROLE,
        },
        "subjects": [
            {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "User",
                "name": "system:anonymous",
            }
        ],
    },
]


def scaled_object(inference_set: Json, url: str) -> Json:
    """Return the ScaledObject that keda-kaito-scaler makes of a model, with another trigger."""
    metadata, owner = inference_set["metadata"], "kaito.sh/v1beta1"
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "annotations": {"scaledobject.kaito.sh/managed-by": "keda-kaito-scaler"},
            "ownerReferences": [
                {
                    "apiVersion": owner,
                    "kind": "InferenceSet",
                    "name": metadata["name"],
                    "uid": metadata["uid"],
                    "controller": True,
                }
            ],
        },
        "spec": {
            "scaleTargetRef": {
                "apiVersion": owner,
                "kind": "InferenceSet",
                "name": metadata["name"],
            },
            "pollingInterval": 15,
            "minReplicaCount": 1,
            "maxReplicaCount": 3,
            "triggers": [
                {
                    "type": "metrics-api",
                    "metadata": {"url": url, "valueLocation": "waiting", "targetValue": "10"},
                }
            ],
        },
    }
