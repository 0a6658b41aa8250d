"""
The API of the store is taken away in each way: Events come as ever, and all is kept afterwards.
"""

import contextlib
from collections.abc import Callable, Iterator

import msgspec
import pytest

from e2e.controlplane import ApiError, Client, ControlPlane, crds, until
from e2e.controlplane.reporter_rights import revoked
from e2e.faults.support.proxy_rules import ProxyRule, refusal
from e2e.faults.support.replicas import ProxiedReplica, running_replica
from e2e.support import events
from e2e.support.health_events import FLAGS, PATH, phases, until_phases
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON, READY_REASON
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.reporter_waits import until_all_known, until_metric
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS
from reporter.kinds.health_events import HEALTH_EVENTS
from tests.support.health_events import CRD, RESOURCE, a_spec


pytestmark = pytest.mark.controlplane

ACTIVE = f"{INVALID_REASON} team-0/model-0 Active"
AFTERWARDS = 100
"""Seconds within which all is kept after the fault: the longest back-off, or two discoveries."""

WRITES = r"/healthevents"
Fault = Callable[[ControlPlane, ProxiedReplica], contextlib.AbstractContextManager[object]]


def _answers(code: int, reason: str) -> Fault:
    def fault(
        _: ControlPlane, replica: ProxiedReplica
    ) -> contextlib.AbstractContextManager[object]:
        answer = refusal(code, reason, "not now")
        return replica.proxy.with_rule(ProxyRule(WRITES, ("POST", "PATCH"), answer=answer))

    return fault


def _slow(_: ControlPlane, replica: ProxiedReplica) -> contextlib.AbstractContextManager[object]:
    return replica.proxy.with_rule(ProxyRule(WRITES, ("POST", "PATCH"), hang=True))


def _right_gone(
    plane: ControlPlane, _: ProxiedReplica
) -> contextlib.AbstractContextManager[object]:
    return revoked(plane.client, NAMESPACE, "healthevents", "create", store=HEALTH_EVENTS)


@contextlib.contextmanager
def _crd_gone(plane: ControlPlane, _: ProxiedReplica) -> Iterator[None]:
    crds.remove(plane.client, RESOURCE)
    try:
        yield
    finally:
        crds.install(plane.client, [CRD])


@contextlib.contextmanager
def _admission_refuses(plane: ControlPlane, _: ProxiedReplica) -> Iterator[None]:
    root = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    client, name = plane.client, "no-health-events"
    rule = {
        "apiGroups": [RESOURCE.partition(".")[2]],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["healthevents"],
    }
    policy = {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "false", "message": "no"}],
        },
    }
    spec = {"policyName": name, "validationActions": ["Deny"]}
    client.create(f"{root}ies", policy)
    client.create(f"{root}ybindings", {"metadata": {"name": name}, "spec": spec})
    try:
        until(lambda: _is_refused(client), within=30, what="HealthEvents are refused")
        yield
    finally:
        client.delete(f"{root}ybindings/{name}")
        client.delete(f"{root}ies/{name}")


def _is_refused(client: Client) -> bool:
    manifest = {
        "apiVersion": "reporter.productionstack.kaito.sh/v1alpha1",
        "kind": "HealthEvent",
        "metadata": {"name": "trial", "namespace": NAMESPACE},
        "spec": msgspec.to_builtins(a_spec()),
    }
    try:
        client.create(f"{PATH}?dryRun=All", manifest)
    except ApiError as err:
        return "no-health-events" in err.body
    return False


FAULTS: dict[str, Fault] = {
    "CRD gone": _crd_gone,
    "right gone": _right_gone,
    "429": _answers(429, "TooManyRequests"),
    "500": _answers(500, "InternalError"),
    "slow": _slow,
    "admission refuses": _admission_refuses,
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_of_the_store_delays_no_event_and_all_is_kept_afterwards(
    plane: ControlPlane, name: str
) -> None:
    client = plane.client
    with running_replica(plane, "one", *SHORT_FLAGS, *FLAGS, leading=True) as replica:
        with FAULTS[name](plane, replica):
            inference_sets.misconfigure(client, 0)
            events.wait_for(client, INVALID_REASON, within=PROMPT_TIMEOUT)
            until(
                lambda: replica.reporter.metric("store_up") == 0,
                within=AFTERWARDS,
                what="the store is down",
            )
            inference_sets.repair(client, 0)
            events.wait_for(client, READY_REASON, within=SETTLE + PROMPT_TIMEOUT)
            inference_sets.misconfigure(client, 0)
            until(
                lambda: len(events.reporter_events(client, INVALID_REASON)) == 2,
                within=PROMPT_TIMEOUT,
                what="the Event of the second episode",
            )
            until_all_known(replica.reporter)
        until(lambda: ACTIVE in phases(client), within=AFTERWARDS, what="the episode is kept")
        until(
            lambda: replica.reporter.metric("store_up") == 1,
            within=AFTERWARDS,
            what="the store is up again",
        )
        assert "Traceback" not in replica.reporter.log()


def test_right_that_is_missing_from_the_start_is_in_the_table(plane: ControlPlane) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS, grant=True) as first:
        first.until_leading()
    with (
        revoked(client, NAMESPACE, "healthevents", "list", "watch", store=HEALTH_EVENTS),
        ReporterProcess(plane, *SHORT_FLAGS, *FLAGS, grant=False) as reporter,
    ):
        until(
            lambda: reporter.lines("list, watch", "healthevents"[:12]),
            within=AFTERWARDS,
            what="the missing right is logged",
        )
        until_all_known(reporter)
        assert reporter.metric("watch_up", kind=RESOURCE) == 0
        inference_sets.misconfigure(client, 0)
        events.wait_for(client, INVALID_REASON, within=PROMPT_TIMEOUT)
        until_metric(reporter, 0, "store_up")
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS):
        until_phases(client, ACTIVE, within=AFTERWARDS)
