"""Components whose real containers end again and again."""

import time

from e2e.controlplane import until
from e2e.node.release import Release
from e2e.node.scenario import Scenario, caused, check_announced
from e2e.node.stack import Fault


LIVENESS = {
    "httpGet": {"path": "/health", "port": 8000},
    "periodSeconds": 1,
    "failureThreshold": 1,
}

CRASHES = {
    "crash": Scenario(
        "body-based-router",
        "clusterBBRNotReady",
        ("CrashLoopBackOff (exit code 1", "Read the end of kubectl logs --previous"),
        Fault({"args": ["crash"]}),
    ),
    "memory": Scenario(
        "apikey-authz",
        "clusterGatewayAuthNotReady",
        ("CrashLoopBackOff after OOMKilled (exit code 137", "Raise the memory limit"),
        Fault({"args": ["fill-memory"], "resources": {"limits": {"memory": "32Mi"}}}),
    ),
    "liveness": Scenario(
        "keda-operator",
        "clusterKedaNotReady",
        ("CrashLoopBackOff", "restarts"),
        Fault({"args": ["serve-for-10s"], "livenessProbe": LIVENESS}),
    ),
    "rollout": Scenario(
        "body-based-router",
        "clusterBBRNotReady",
        ("the old version still serves", "made no progress", "CrashLoopBackOff (exit code 1"),
        Fault({"args": ["crash"]}, stuck_after=30),
    ),
}
"""Faults that kubelet answers with restarts, further and further apart; see CRASH_SETTLE in reporter/evaluation."""

SETTLE = 35
"""Seconds after which a fault that has ended is outranked by a new one."""

CRASHES_SETTLE_WITHIN = 720


def test_pods_that_crash_are_announced_until_they_have_run_for_a_while(quiet: Release) -> None:
    events, settled = quiet.events_from_now(), quiet.events_from_now()
    for scenario in CRASHES.values():
        with caused(quiet, scenario):
            check_announced(events, scenario)
        time.sleep(SETTLE)
        events = quiet.events_from_now()
    assert [each.reason for each in settled.all("clusterReady")] == []
    until(
        lambda: settled.all("clusterReady"),
        within=CRASHES_SETTLE_WITHIN,
        what="their end is announced",
    )
    assert {each.reason for each in events.all()} == {"clusterReady"}
