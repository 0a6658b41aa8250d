"""The cluster layer on a real control plane: the Events about a broken component."""

import datetime as dt
import re
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, Json, faults
from e2e.support import events
from e2e.support.events import Event
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import (
    APIKEY_AUTHZ,
    APIKEY_OPERATOR,
    BODY_BASED_ROUTER,
    ISTIOD,
    KAITO_WORKSPACE,
    KEDA_METRICS_APISERVER,
    KEDA_OPERATOR,
)
from e2e.support.reporter_process import ReporterProcess
from e2e.support.reporter_waits import until_logged, until_states, until_was
from e2e.support.timeouts import GRACE, PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS, short_holds_flag


BBR, ISTIO = "clusterBBRNotReady", "clusterIstioControlPlaneNotReady"
KAITO, KEDA = "clusterKaitoControllerNotReady", "clusterKedaNotReady"
READY = "clusterReady"


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


# ---------------------------------------------------------------- from zero to Ready


def test_scaled_to_zero_is_announced_at_once_and_ready_after_the_settle(
    plane: ControlPlane,
) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        warning = events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        assert (warning.type, warning.involved) == ("Warning", ("Namespace", "kaito-system"))
        begin = "Deployment kaito-system/body-based-router is scaled to zero replicas. Platform: "
        assert warning.message.startswith(begin)
        back = dt.datetime.now(dt.UTC)
        components.scale(plane.client, BODY_BASED_ROUTER, 2)
        until_was(reporter, BBR, "settling")
        last = events.reporter_events(plane.client, BBR)
        ready = events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert (ready.type, ready.involved) == ("Normal", ("Namespace", "kube-system"))
        written = dt.datetime.fromisoformat(ready.raw["eventTime"])
        assert written - back >= dt.timedelta(seconds=SETTLE)
        assert events.reporter_events(plane.client, BBR) == last
        assert [each.uid for each in last] == [warning.uid]


def test_deleted_deployment_is_announced_and_is_out(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS, short_holds_flag(plane)) as reporter:
        plane.client.delete(components.path(ISTIOD))
        warning = events.wait_for(plane.client, ISTIO, within=GRACE + PROMPT_TIMEOUT)
        assert "Deployment istio-system/istiod was deleted" in warning.message
        assert _cause(reporter, ISTIO)["out"]


# ---------------------------------------------------------------- what outranks what


def test_only_the_highest_ranked_cause_is_announced_and_names_the_others(
    plane: ControlPlane,
) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        components.scale(plane.client, ISTIOD, 0)
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        suffix = f" (also: {BBR})"
        warning = events.wait_for(plane.client, ISTIO, within=PROMPT_TIMEOUT, containing=suffix)
        assert warning.message.endswith(suffix)
        until_states(reporter, {ISTIO: "announced", BBR: "outranked"})
        assert set(events.reasons(plane.client)) == {ISTIO}


def test_outranked_cause_is_announced_when_the_other_has_settled(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS):
        components.scale(plane.client, ISTIOD, 0)
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, ISTIO, within=PROMPT_TIMEOUT)
        components.scale(plane.client, ISTIOD, 1)
        own = events.wait_for(plane.client, BBR, within=SETTLE + 2 * PROMPT_TIMEOUT)
        assert "also" not in own.message
        components.scale(plane.client, BODY_BASED_ROUTER, 2)
        events.wait_for(plane.client, READY, within=SETTLE + 2 * PROMPT_TIMEOUT)
        assert sorted(events.reasons(plane.client)) == sorted([ISTIO, BBR, READY])


def test_every_cause_is_announced_with_emission_all(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS, "--emission=all"):
        components.scale(plane.client, ISTIOD, 0)
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, ISTIO, within=PROMPT_TIMEOUT)
        events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        components.scale(plane.client, ISTIOD, 1)
        components.scale(plane.client, BODY_BASED_ROUTER, 2)
        events.wait_for(plane.client, READY, within=SETTLE + 2 * PROMPT_TIMEOUT)
        assert sorted(events.reasons(plane.client)) == sorted([ISTIO, BBR, READY])


# ---------------------------------------------------------------- the cause, from the pods


def test_crash_looping_pod_is_named_with_its_exit_code(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS, short_holds_flag(plane)):
        pod = components.pods(plane.client, BODY_BASED_ROUTER)[0]
        faults.set_pod_fault(plane.client, pod, faults.CRASH_LOOP)
        warning = _wait_for(plane, BBR, "CrashLoopBackOff")
    assert warning.message.startswith(
        "Deployment kaito-system/body-based-router is degraded: 1/2 replicas ready;"
        f" pod {pod['metadata']['name']} CrashLoopBackOff (exit code 1, 4 restarts). Platform: "
    )
    assert "kubectl logs --previous" in warning.message


def test_image_that_cannot_be_pulled_is_named_with_the_message_of_kubelet(
    plane: ControlPlane,
) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS, short_holds_flag(plane)):
        pod = components.pods(plane.client, KAITO_WORKSPACE)[0]
        faults.set_pod_fault(plane.client, pod, faults.IMAGE_PULL)
        warning = _wait_for(plane, KAITO, "ImagePullBackOff")
    assert warning.message.startswith(
        "Deployment kaito-system/kaito-workspace is unavailable: 0/1 replicas ready;"
        f" pod {pod['metadata']['name']} ImagePullBackOff:"
        ' Back-off pulling image "e2e/none:1". Platform: '
    )


def test_pods_that_a_quota_refuses_are_announced_with_its_message(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS, short_holds_flag(plane)):
        plane.client.apply(_quota("keda", pods=0))
        plane.client.delete(plane.client.path(components.pods(plane.client, KEDA_OPERATOR)[0]))
        warning = _wait_for(plane, KEDA, "exceeded quota")
    assert "Deployment keda/keda-operator is unavailable: 0/1 replicas ready" in warning.message
    assert "ResourceQuota" in warning.message


def test_every_failing_deployment_of_a_reason_is_named(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS):
        components.scale(plane.client, KEDA_OPERATOR, 0)
        components.scale(plane.client, KEDA_METRICS_APISERVER, 0)
        both = "Deployment keda/keda-operator-metrics-apiserver is scaled to zero replicas."
        warning = events.wait_for(plane.client, KEDA, within=PROMPT_TIMEOUT, containing=both)
        assert "Deployment keda/keda-operator is scaled to zero replicas." in warning.message
        assert set(events.reasons(plane.client)) == {KEDA}


# ---------------------------------------------------------------- where it is, and whether


def test_kaito_in_another_namespace_than_configured_is_judged_there(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS, "--kaito-namespace=kaito-workspace") as reporter:
        words = ("WARNING", KAITO, "--kaito-namespace=kaito-system")
        until_logged(reporter, *words)
        assert reporter.states() == {}
        assert len(reporter.lines(*words)) == 1
        assert any("--kaito-namespace=kaito-system" in each for each in reporter.status()["notes"])
        assert events.reporter_events(plane.client) == []
        components.scale(plane.client, KAITO_WORKSPACE, 0)
        warning = events.wait_for(plane.client, KAITO, within=PROMPT_TIMEOUT)
        assert warning.involved == ("Namespace", "kaito-system")
        assert warning.message.startswith("Deployment kaito-system/kaito-workspace is scaled to")


def test_wrong_name_in_a_flag_is_announced_once_after_the_grace_and_suppresses_nothing(
    plane: ControlPlane,
) -> None:
    grace = 4
    delays = (f"--startup-grace-seconds={grace}", f"--settle-seconds={SETTLE}")
    with ReporterProcess(plane, *delays, "--kaito-deployment=kaito-typo") as reporter:
        until_was(reporter, KAITO, "held")
        warning = events.wait_for(plane.client, KAITO, within=grace + PROMPT_TIMEOUT)
        assert "Deployment kaito-system/kaito-typo does not exist" in warning.message
        assert "--kaito-deployment" in warning.message
        cause = _cause(reporter, KAITO)
        assert cause["seconds"] >= grace
        assert not cause["out"]
        assert "suppressing" not in warning.message
        assert [each.count for each in events.reporter_events(plane.client)] == [1]


def test_gateway_auth_is_not_judged_when_its_flag_is_empty(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS, "--gateway-auth-deployment=") as reporter:
        for component in (APIKEY_AUTHZ, APIKEY_OPERATOR):
            components.scale(plane.client, component, 0)
        _until_seen(plane, reporter)
        assert set(events.reasons(plane.client)) == {BBR}
        assert set(reporter.states()) == {BBR}


def test_gateway_auth_is_judged_when_its_flag_names_it(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS):
        components.scale(plane.client, APIKEY_AUTHZ, 0)
        auth = "clusterGatewayAuthNotReady"
        warning = events.wait_for(plane.client, auth, within=PROMPT_TIMEOUT)
        assert warning.involved == ("Namespace", "llm-gateway-auth")
        assert "Deployment llm-gateway-auth/apikey-authz is scaled to zero" in warning.message


# ---------------------------------------------------------------- what kubectl shows


def test_kubectl_shows_type_reason_object_and_message(plane: ControlPlane) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS):
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        head, row = events.table(plane).splitlines()
        assert head.split() == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
        shown = r"\d+s +Warning +clusterBBRNotReady +namespace/kaito-system +Deployment kaito-sys"
        assert re.match(shown, row)
        wide = events.table(plane, "--output=wide")
        assert events.SOURCE in wide
        named = ("events", "--for=namespace/kaito-system", "--namespace=kube-system")
        assert BBR in plane.kubectl(*named)


# ---------------------------------------------------------------- used above


def _cause(reporter: ReporterProcess, reason: str) -> Json:
    """The first cause of a reason as the status page has it; empty when the reason is clear."""
    verdicts = [v for subject in reporter.status()["subjects"] for v in subject["verdicts"]]
    causes: list[Json] = [
        cause for each in verdicts if each["reason"] == reason for cause in each["causes"]
    ]
    return causes[0] if causes else {}


def _wait_for(plane: ControlPlane, reason: str, detail: str) -> Event:
    """
    Wait for an Event with this detail of a pod: it may be seen after the hold, and is then written
    with the next rewrite, a minute later at most.
    """
    return events.wait_for(plane.client, reason, within=90, containing=detail)


def _until_seen(plane: ControlPlane, reporter: ReporterProcess) -> None:
    """Wait until earlier changes are evaluated, which is so when a later change is announced."""
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)


def _quota(namespace: str, *, pods: int) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few-pods", "namespace": namespace},
        "spec": {"hard": {"pods": str(pods)}},
    }
