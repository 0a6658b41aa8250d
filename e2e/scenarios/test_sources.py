"""
The details that ``--sources`` adds on a real API server, with exactly its permissions and without
them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus

import pytest

from e2e.controlplane import ApiError, ControlPlane, Json, reporter_rights, until
from e2e.controlplane.reporter_rights import revoked
from e2e.support import events
from e2e.support.cases.short_holds import overlay
from e2e.support.production_stack import workload
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.shared_plane import SharedPlane


SOURCES = ("keda", "karpenter", "istio")
TEAM, MODEL = "team-0", "model-0"
SCALING, NODES = "inferencesetScalingMisconfigured", "inferencesetInfraProvisioningFailed"
PROVIDER = "modelharnessExtAuthzProviderMissing"
KINDS = {
    "scaledobjects": "list, watch scaledobjects.keda.sh",
    "nodeclaims": "list, watch nodeclaims.karpenter.sh",
    "nodepools": "list, watch nodepools.karpenter.sh",
    "authorizationpolicies": "list, watch authorizationpolicies.security.istio.io",
    "configmaps": "list, watch configmaps istio",
}
READ = {"scaledobjects.keda.sh", "nodeclaims.karpenter.sh", "nodepools.karpenter.sh"}
WITHIN = 90
"""The time limit of each step, in seconds: three times the longest pause of a refused watch."""

FLAGS = (
    "--startup-grace-seconds=1",
    "--settle-seconds=1",
    "--leader-elect=false",
    "--emission=all",
)


@pytest.fixture(scope="module")
def plane(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    """A plane with one model, and faults that only a source reports."""
    with small_plane.lent() as plane:
        workload.write(plane, 1)
        for manifest in _wrong(plane):
            _write(plane, manifest)
        yield plane


def test_each_source_reports_with_the_permissions_that_it_adds(plane: ControlPlane) -> None:
    events.clear(plane.client)
    with ReporterProcess(plane, *FLAGS, overlay(plane.folder), _flag(*SOURCES)) as reporter:
        messages = {each: _wait_for(plane, each) for each in (SCALING, NODES, PROVIDER)}
        assert (
            f"ScaledObject {MODEL} has Ready=False (ScaledObjectCheckFailed): "
            in messages[SCALING]
        )
        assert "a NodeClaim of Workspace " in messages[NODES]
        assert "Launched=False (SubscriptionQuotaReached): " in messages[NODES]
        assert (
            'AuthorizationPolicy apikey asks provider "apikey-ext-auth", which '
            in messages[PROVIDER]
        )
        assert '(did you mean "apikey-ext-authz"?)' in messages[PROVIDER]
        until(
            lambda: reporter.lines("permissions that are needed are granted"),
            within=WITHIN,
            what="",
        )
        assert set(KINDS) <= reporter.status()["kinds"].keys()
        assert "s3cret" not in reporter.log() + str(reporter.status())


def test_without_a_source_nothing_of_it_is_read_asked_for_or_announced(
    plane: ControlPlane,
) -> None:
    events.clear(plane.client)
    with ReporterProcess(plane, *FLAGS, overlay(plane.folder)) as reporter:
        until(
            lambda: reporter.lines("permissions that are needed are granted"),
            within=WITHIN,
            what="",
        )
        until(lambda: reporter.lines(NODES, "held"), within=WITHIN, what="it has looked")
        assert not set(KINDS) & reporter.status()["kinds"].keys()
        assert {SCALING, PROVIDER}.isdisjoint(events.reasons(plane.client))
        assert all(
            "NodeClaim claim-0" not in each.message
            for each in events.reporter_events(plane.client)
        )


def test_without_its_rights_a_source_is_unknown_and_all_else_goes_on(plane: ControlPlane) -> None:
    """The annotations of the model are evaluated although ScaledObjects may not be read."""
    events.clear(plane.client)
    reporter_rights.install(plane.client, NAMESPACE)
    until(lambda: not _may_read(plane), within=WITHIN, what="the rights of earlier tests are gone")
    with ReporterProcess(
        plane, *FLAGS, overlay(plane.folder), _flag(*SOURCES), grant=False
    ) as reporter:
        until(
            lambda: reporter.lines("MISSING", "UNKNOWN REASONS"),
            within=WITHIN,
            what="it logs what is missing",
        )
        until(
            lambda: reporter.status()["unread"].keys() >= READ,
            within=WITHIN,
            what="the page shows what is not read",
        )
        claims = reporter.status()["unread"]["nodeclaims.karpenter.sh"]
        assert claims == {
            "why": "may not list nodeclaims.karpenter.sh",
            "unknown": [],
            "unknownInPart": [],
            "lessDetail": [NODES],
        }
        assert (
            "not read: nodeclaims.karpenter.sh: may not list nodeclaims.karpenter.sh"
            in reporter.readiness().splitlines()
        )
        table = reporter.log()
        assert all(each.split(maxsplit=2)[2] in table for each in KINDS.values())
        _annotate(plane, {"scaledobject.kaito.sh/max-replicas": "0"})
        assert 'max-replicas="0" must be greater than 1' in _wait_for(plane, SCALING)
        _annotate(plane, {"scaledobject.kaito.sh/max-replicas": "4"})
        over = (SCALING, "clear, was settling")
        until(lambda: reporter.lines(*over), within=WITHIN, what="it is over, and nothing unknown")
        with _without_filter(plane):
            until(
                lambda: _is_unknown(reporter, PROVIDER),
                within=WITHIN,
                what="a policy that may not be read may take the place of the filter",
            )
        until(
            lambda: not _is_unknown(reporter, PROVIDER), within=WITHIN, what="the filter is back"
        )
        assert PROVIDER not in events.reasons(plane.client)
        for resource in KINDS:
            assert len(reporter.lines("WARNING", f"may not list {resource}")) == 1
        reporter_rights.install(plane.client, NAMESPACE, SOURCES)
        assert "ScaledObjectCheckFailed" in _wait_for(plane, SCALING, "ScaledObjectCheckFailed")
        _wait_for(plane, PROVIDER)


def test_of_configmaps_it_may_read_no_other(plane: ControlPlane) -> None:
    reporter_rights.install(plane.client, NAMESPACE, SOURCES)
    token = plane.service_account_token(NAMESPACE, reporter_rights.NAME)
    own = plane.client_of(token)
    own.list("/api/v1/configmaps", fieldSelector="metadata.name=istio")
    with pytest.raises(ApiError, match="403"):
        own.list("/api/v1/configmaps")
    taken = revoked(plane.client, NAMESPACE, "configmaps", sources=SOURCES)
    with taken, pytest.raises(ApiError, match="403"):
        own.list("/api/v1/configmaps", fieldSelector="metadata.name=istio")


# ---------------------------------------------------------------- used above


def _may_read(plane: ControlPlane) -> bool:
    token = plane.service_account_token(NAMESPACE, reporter_rights.NAME)
    try:
        plane.client_of(token).list("/apis/keda.sh/v1alpha1/scaledobjects")
    except ApiError as err:
        return err.status != HTTPStatus.FORBIDDEN
    return True


def _is_unknown(reporter: ReporterProcess, reason: str) -> bool:
    verdicts = reporter.metric_by(
        "workload_namespace", "reason_state", state="unknown", reason=reason
    )
    return verdicts.get(TEAM) == 1


@contextmanager
def _without_filter(plane: ControlPlane) -> Iterator[None]:
    """Delete the filter that asks for API keys; write it again at the end."""
    filters = f"/apis/networking.istio.io/v1alpha3/namespaces/{TEAM}/envoyfilters"
    found = plane.client.get(f"{filters}/apikey-ext-authz")
    plane.client.delete(f"{filters}/apikey-ext-authz")
    try:
        yield
    finally:
        meta = {key: found["metadata"][key] for key in ("name", "namespace", "labels")}
        plane.client.create(filters, {**found, "metadata": meta})


def _flag(*sources: str) -> str:
    return f"--sources={','.join(sources)}"


def _wait_for(plane: ControlPlane, reason: str, containing: str = "") -> str:
    return events.wait_for(plane.client, reason, within=WITHIN, containing=containing).message


def _annotate(plane: ControlPlane, annotations: Json) -> None:
    path = f"/apis/kaito.sh/v1beta1/namespaces/{TEAM}/inferencesets/{MODEL}"
    plane.client.patch(path, {"metadata": {"annotations": annotations}})


def _write(plane: ControlPlane, manifest: Json) -> None:
    made = plane.client.create(plane.client.collection(manifest), manifest)
    if "status" in manifest:
        path = f"{plane.client.path(manifest)}/status"
        plane.client.put(path, {**made, "status": manifest["status"]})


def _wrong(plane: ControlPlane) -> Iterator[Json]:
    _annotate(
        plane,
        {
            "scaledobject.kaito.sh/auto-provision": "true",
            "scaledobject.kaito.sh/max-replicas": "4",
            "scaledobject.kaito.sh/metrics": (
                "[{name: queue, type: gauge, upthreshold: 10, downthreshold: 1}]"
            ),
        },
    )
    yield _object(
        *("keda.sh/v1alpha1", "ScaledObject", MODEL, TEAM),
        spec={
            "scaleTargetRef": {
                "apiVersion": "kaito.sh/v1beta1",
                "kind": "InferenceSet",
                "name": MODEL,
            },
            "triggers": [{"type": "external", "metadata": {}}],
        },
        status={"conditions": [_condition("Ready", "ScaledObjectCheckFailed", "wrong target")]},
    )
    mesh = "extensionProviders: [{name: apikey-ext-authz, note: s3cret}]"
    yield _object("v1", "ConfigMap", "istio", "istio-system", data={"mesh": mesh})
    yield _object(
        *("security.istio.io/v1", "AuthorizationPolicy", "apikey", TEAM),
        spec={"action": "CUSTOM", "provider": {"name": "apikey-ext-auth"}, "rules": [{}]},
    )
    yield _refused_claim(plane)


def _refused_claim(plane: ControlPlane) -> Json:
    """A NodeClaim that was refused; its Workspace and pod wait for it."""
    workspaces = f"/apis/kaito.sh/v1beta1/namespaces/{TEAM}/workspaces"
    (found,) = plane.client.list(workspaces)
    path = f"{workspaces}/{found['metadata']['name']}"
    waits = [
        _dated(_condition(kind, "NodeClaimNotReady", "Ready NodeClaims are not enough"))
        for kind in ("NodeClaimReady", "ResourceReady", "NodesReady")
    ]
    plane.client.put(f"{path}/status", {**plane.client.get(path), "status": {"conditions": waits}})
    for pod in plane.client.list(f"/api/v1/namespaces/{TEAM}/pods"):
        if "kaito.sh/workspace" in pod["metadata"].get("labels", {}):
            plane.client.delete(
                f"/api/v1/namespaces/{TEAM}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0"
            )
    claim = _object(
        *("karpenter.sh/v1", "NodeClaim", "claim-0", ""),
        spec={
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "d"},
            "requirements": [],
        },
        status={
            "conditions": [_dated(_condition("Launched", "SubscriptionQuotaReached", "no quota"))]
        },
    )
    claim["metadata"]["labels"] = {
        "karpenter.kaito.sh/workspace-name": found["metadata"]["name"],
        "karpenter.kaito.sh/workspace-namespace": TEAM,
        "karpenter.kaito.sh/inferenceset": MODEL,
        "karpenter.kaito.sh/inferenceset-namespace": TEAM,
    }
    return claim


def _object(version: str, kind: str, name: str, namespace: str, **rest: Json) -> Json:
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **where}, **rest}


def _condition(kind: str, reason: str, message: str) -> Json:
    return {"type": kind, "status": "False", "reason": reason, "message": message}


def _dated(condition: Json) -> Json:
    return {**condition, "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
