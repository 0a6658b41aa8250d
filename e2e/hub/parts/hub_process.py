"""The hub as it runs in a cluster: a process of its own with the permissions of the chart."""

from typing import Any, Protocol

import yaml

from e2e.chart import crds as chart_crds
from e2e.controlplane import Client, ControlPlane, crds
from e2e.controlplane.rules import rules
from e2e.support.reporter_process import ReporterProcess
from reporter.cli.hub_configuration import HUB_LEASE, load_hub_settings
from reporter.hub.run import needed_permissions
from reporter.kinds.productionstack import PRODUCTION_STACK_CLUSTERS as KIND


NAMESPACE = NAME = "hub"
PATH = f"/apis/{KIND.group}/v1alpha1/namespaces/{NAMESPACE}/{KIND.resource}"
INTERVAL, STALE = 5, 30
RBAC = "rbac.authorization.k8s.io"

Json = dict[str, Any]


class AskedEngine(Protocol):
    @property
    def url(self) -> str: ...


class HubProcess(ReporterProcess):
    SERVICE_ACCOUNT = (NAMESPACE, NAME)

    def __init__(
        self, plane: ControlPlane, engine: AskedEngine, *flags: str, name: str = "hub-0"
    ) -> None:
        asks = (
            f"--hub-query-url={engine.url}",
            f"--hub-interval-seconds={INTERVAL}",
            f"--hub-stale-seconds={STALE}",
        )
        env = {"POD_NAMESPACE": NAMESPACE}
        super().__init__(plane, *asks, *flags, env=env, name=name, grant=False)

    def until_leading(self, *, within: float = 60) -> None:
        self._until(lambda: self.metric("hub_leader") == 1, within, "leading")

    def _command(self) -> list[str]:
        return ["hub" if word == "run" else word for word in super()._command()]

    @property
    def status_url(self) -> str:
        return f"http://127.0.0.1:{self.health_port}"


def install(client: Client) -> None:
    """Install the CRD of the chart, the namespace and the ServiceAccount with its permissions."""
    crds.install(client, [yaml.safe_load(chart_crds.content(KIND))])
    meta = {"name": NAME, "namespace": NAMESPACE}
    needed = needed_permissions(load_hub_settings(["--hub-query-url=https://engine"], {}))
    assert any(each.name == HUB_LEASE for each in needed)
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}
    for manifest in (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta},
        {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": meta, "rules": rules(needed)},
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": NAME},
            "subjects": [subject],
        },
    ):
        client.apply(manifest)


def create_cluster(client: Client, name: str, **spec: Any) -> Json:
    """Create an object as people do."""
    return client.create(
        PATH,
        {
            "apiVersion": f"{KIND.group}/v1alpha1",
            "kind": KIND.kind,
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"clusterLabel": name} | spec,
        },
    )


def read(client: Client, name: str) -> Json:
    return client.get(f"{PATH}/{name}")
