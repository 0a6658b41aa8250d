"""States in which something is found, or cannot be evaluated."""

import json
from pathlib import Path

from devcluster.example.team import GATEWAY, MODEL, TEAM
from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from e2e.chart.alerts.capture import State, capture
from e2e.chart.alerts.replicas import REPLICAS, USER, replicas
from reporter.kinds.resource_kind import SILENCE_PREFIX
from tests.integration.process.reporter_process import BBR, scale_to_zero


EXT_AUTHZ = ("envoyfilters.networking.istio.io", TEAM, "apikey-ext-authz")
DISCOVERY = r"^/apis?$"


def _restore(server: DevCluster) -> None:
    """Scale up again. No controller runs here, so the status follows by hand."""
    scaled = server.cluster.patch(*BBR, {"spec": {"replicas": 2}})
    seen = {"status": {"observedGeneration": scaled["metadata"]["generation"]}}
    server.cluster.patch(*BBR, seen, subresource="status")


async def healthy(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        return await capture(found)


async def finding(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        scale_to_zero(found.server)
        await found.in_state("active", reason="clusterBBRNotReady")
        return await capture(found)


async def silenced(folder: Path) -> State:
    """A finding that a file silences."""
    folder.mkdir(parents=True)
    file = folder / "silences.yaml"
    entry = {"reasons": ["clusterBBRNotReady"], "until": "2099-01-01T00:00:00Z"}
    file.write_text(json.dumps({"silences": [entry]}))
    async with replicas(folder, *(f"--silence-file={file}",) * REPLICAS) as found:
        await found.led()
        scale_to_zero(found.server)
        await found.in_state("silenced", reason="clusterBBRNotReady")
        return await capture(found)


async def silences_not_in_effect(folder: Path) -> State:
    """Silences of which nothing is silenced: an annotation, and three entries of the file."""
    folder.mkdir(parents=True)
    later, reasons = "2099-01-01T00:00:00Z", ["clusterBBRNotReady"]
    entries = [
        {"reasons": ["clusterNever"], "until": later},
        {"reasons": reasons, "until": "2020-01-01T00:00:00Z"},
        {"namespace": "never-was", "reasons": ["all"], "until": later},
    ]
    file = folder / "silences.yaml"
    file.write_text(json.dumps({"silences": entries}))
    async with replicas(folder, *(f"--silence-file={file}",) * REPLICAS) as found:
        await found.led()
        annotations = {f"{SILENCE_PREFIX}reasons": "all"}  # and no end
        found.server.cluster.patch(
            "inferencesets.kaito.sh", TEAM, MODEL, {"metadata": {"annotations": annotations}}
        )
        await found.all_show("silences", 2, state="malformed")
        for state in ("expired", "inapplicable"):
            await found.all_show("silences", 1, state=state)
        return await capture(found)


async def suppressed(folder: Path) -> State:
    """Istio's control plane is out, and the Gateway names a class that never was."""
    async with replicas(folder) as found:
        await found.led()
        cluster = found.server.cluster
        cluster.patch("deployments.apps", "istio-system", "istiod", {"spec": {"replicas": 0}})
        await found.in_state("active", reason="clusterIstioControlPlaneNotReady")
        gateways = "gateways.gateway.networking.k8s.io"
        cluster.patch(gateways, TEAM, GATEWAY, {"spec": {"gatewayClassName": "never-was"}})
        await found.in_state("active", reason="modelharnessGatewayClassMissing")
        await found.in_state("suppressed", reason="modelharnessGatewayClassMissing")
        return await capture(found)


async def harness_out(folder: Path) -> State:
    """A filter of one namespace asks a Service that does not exist; the control plane is well."""
    async with replicas(folder) as found:
        await found.led()
        cluster = found.server.cluster
        asks = cluster.get(*EXT_AUTHZ)
        assert asks is not None
        wrong = json.dumps(asks["spec"]).replace("llm-gateway-auth.", "never-was.")
        cluster.patch(*EXT_AUTHZ, {"spec": json.loads(wrong)})
        await found.in_state("active", reason="modelharnessExtAuthzProviderMissing")
        labels = {"scope": "namespace", "stalled": "true", "workload_namespace": TEAM}
        await found.all_show("rollup_blocking_info", 1, of=1, **labels)
        return await capture(found)


async def unknown(folder: Path) -> State:
    async with replicas(folder, deny=[("list", "", "pods")]) as found:
        await found.led()
        await found.in_state("unknown", reason="inferencesetModelPodsNotReady")
        await found.all_show("missing_rights", 1, verb="list", resource="pods")
        return await capture(found)


async def discovery_fails(folder: Path) -> State:
    async with replicas(folder, broken=DISCOVERY) as found:
        await found.in_state("unknown", reason="clusterCRDMissing")
        await found.all_show("leader", 1, of=1)
        return await capture(found)


async def api_server_out(folder: Path) -> State:
    """The API server answers nothing any more amid a finding, so that nobody leads."""
    async with replicas(folder) as found:
        await found.led()
        scale_to_zero(found.server)
        await found.in_state("active", reason="clusterBBRNotReady")
        await found.all_show("findings_complete", 1, of=1)
        found.server.faults.add(status_response(503, "ServiceUnavailable", "down"), path=".*")
        found.server.end_watches()
        await found.all_show("watch_up", 0)
        await found.all_show("leader", 0)
        await found.in_state("unknown", reason="clusterBBRNotReady")
        return await capture(found)


async def watch_lost(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        found.server.deny("watch", "", "pods")
        found.server.end_watches("pods")
        await found.all_show("watch_up", 0, kind="pods")
        await found.in_state("unknown", reason="inferencesetModelPodsNotReady")
        await found.all_show("missing_rights", 1, verb="watch", resource="pods")
        return await capture(found)


async def one_cut_off(folder: Path) -> State:
    """A follower lost the API server during a finding, which has ended since."""
    async with replicas(folder) as found:
        await found.led()
        await found.all_show("unknown_rights", 0)
        scale_to_zero(found.server)
        await found.in_state("active", reason="clusterBBRNotReady")
        leads = [each.metric("leader") for each in found.running]
        found.server.deny(user=USER.format(leads.index(0)))
        found.server.end_watches()
        await found.all_show("watch_up", 0, of=1, kind="deployments.apps")
        _restore(found.server)
        await found.in_state("active", reason="clusterBBRNotReady", of=1)
        await found.in_state("unknown", reason="clusterBBRNotReady", of=1)
        await found.all_show("missing_rights", 1, of=1, verb="watch", resource="deployments.apps")
        return await capture(found)


async def reviews_fail(folder: Path) -> State:
    async with replicas(folder, broken="selfsubjectaccessreviews") as found:
        await found.led()
        return await capture(found, reviewed=0)


async def undecodable(folder: Path) -> State:
    """The listeners of a Gateway are no list."""
    gateways = "gateways.gateway.networking.k8s.io"
    async with replicas(folder) as found:
        await found.led()
        found.server.cluster.patch(gateways, TEAM, GATEWAY, {"spec": {"listeners": "none"}})
        await found.all_show("undecodable_objects", 1, kind=gateways)
        await found.in_state("unknown", reason="modelharnessGatewayProgrammingFailed")
        return await capture(found)


async def overlay_refused(folder: Path) -> State:
    """Somebody has changed the overlay of the catalogue into one that names no reason."""
    folder.mkdir(parents=True, exist_ok=True)
    overlay = folder / "overlay.yaml"
    overlay.write_text("reasons: {}\n")
    flags = (f"--catalogue-overlay={overlay}",) * REPLICAS
    async with replicas(folder, *flags) as found:
        await found.led()
        overlay.write_text("reasons: { clusterNever: { enabled: false } }\n")
        await found.all_show("overlay_refused", 1)
        return await capture(found)
