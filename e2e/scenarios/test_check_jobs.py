"""
Check Jobs with ``--sources=jobs`` on a real API server: real Jobs, run by the real Job controller.

A condition is written as the container beside a check writes it: by a patch of the Job's status.
"""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from e2e.controlplane import ControlPlane, Json, reporter_rights, until
from e2e.controlplane.client import STRATEGIC
from e2e.support import events
from e2e.support.cases.cluster_replay import overlay
from e2e.support.events import Event
from e2e.support.production_stack.components import IMAGE
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from reporter.model.kinds.batch.jobs import CHECK_LABEL


CLUSTER, HARNESS, MODEL = (
    "clusterCheckFailed",
    "modelharnessCheckFailed",
    "inferencesetCheckFailed",
)
SET = "checked"
WITHIN = 60
"""
The time limit of each step, in seconds: twice the longest pause of a refused watch.
"""

FLAGS = (
    "--sources=jobs",
    "--scrape=off",
    "--startup-grace-seconds=1",
    "--settle-seconds=1",
    "--leader-elect=false",
    "--heartbeat-seconds=3600",
)


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    events.clear(stack.client)
    yield stack
    for job in stack.client.list("/apis/batch/v1/jobs"):
        _delete(stack, job["metadata"]["namespace"], job["metadata"]["name"])
    events.clear(stack.client)


@pytest.fixture
def team(plane: ControlPlane, namespace: str) -> str:
    """
    A workload namespace with an InferenceSet, of which nothing serves.
    """
    labels = {"productionstack.kaito.sh/managed-by": "modelharness"}
    plane.client.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}})
    inference_set = {
        "apiVersion": "kaito.sh/v1beta1",
        "kind": "InferenceSet",
        "metadata": {"name": SET, "namespace": namespace},
        "spec": {
            "replicas": 1,
            "labelSelector": {},
            "template": {"inference": {"preset": {"name": "phi-4"}}},
        },
    }
    plane.client.create(plane.client.collection(inference_set), inference_set)
    return namespace


def test_each_layer_has_its_checks_and_a_failure_is_read_back_after_a_restart(
    plane: ControlPlane, team: str
) -> None:
    with _reporter(plane) as reporter:
        _create(plane, team, "gateway-1", check="gateway")
        _create(plane, team, "smoke-1", check="smoke", of=SET)
        _create(plane, "kube-system", "dns-1", check="dns")
        _report(plane, team, "gateway-1", "False", "Refused", "the Gateway closes the connection")
        _report(plane, team, "smoke-1", "False", "NoAnswer", "503 at https://x.test/?sig=s3cret")
        _report(plane, "kube-system", "dns-1", "False", "NameNotResolved")
        found = {reason: _wait_for(plane, reason) for reason in (CLUSTER, HARNESS, MODEL)}
        assert found[HARNESS].message.startswith(
            f"Namespace {team}: check gateway of Job gateway-1 failed (Refused): the Gateway closes"
            " the connection. Platform: "
        )
        assert found[MODEL].message.startswith(
            f"InferenceSet {team}/{SET}: check smoke of Job smoke-1 failed (NoAnswer): 503 at. User"
        )
        assert found[CLUSTER].message.startswith(
            "Check dns of Job kube-system/dns-1 failed (NameNotResolved). Platform: "
        )
        assert [each.involved for each in found.values()] == [
            ("Namespace", "kube-system"),
            ("Namespace", team),
            ("Namespace", team),
        ]
        assert "s3cret" not in reporter.log() + str(reporter.status())
        assert reporter.lines("permissions that are needed are granted")
    with _reporter(plane) as reporter:
        _until_states(
            reporter, {f"{CLUSTER} dns", f"{HARNESS} gateway", f"{MODEL} smoke"}, "announced"
        )
        _report(plane, team, "gateway-1", "True", "Answered")
        _until_states(reporter, {f"{CLUSTER} dns", f"{MODEL} smoke"}, "announced")
    after = {each.uid: each.count for each in _check_events(plane)}
    assert after.keys() == {each.uid for each in found.values()}, "no second Event"


def test_the_newest_job_that_has_reported_decides(plane: ControlPlane, team: str) -> None:
    with _reporter(plane) as reporter:
        _create(plane, team, "smoke-1", check="smoke", of=SET)
        _report(plane, team, "smoke-1", "False", "NoAnswer")
        first = _wait_for(plane, MODEL)
        until(lambda: _seconds_old(plane, team, "smoke-1") > 1, within=WITHIN, what="it is older")
        _create(plane, team, "smoke-2", check="smoke", of=SET)
        _until_running(plane, team, "smoke-2")
        assert _states(reporter)[f"{MODEL} smoke"] == "announced", "the one before still counts"
        _report(plane, team, "smoke-2", "True", "Answered")
        _until_clear(reporter)
        _delete(plane, team, "smoke-2")
        second = events.wait_for(plane.client, MODEL, within=WITHIN, besides=[first])
        assert "of Job smoke-1 failed" in second.message
        _delete(plane, team, "smoke-1")
        _until_clear(reporter)


def test_the_condition_stays_when_the_controller_completes_the_job(
    plane: ControlPlane, team: str
) -> None:
    """
    The controller writes its own conditions beside it, with the Job ended as with it running.
    """
    with _reporter(plane) as reporter:
        _create(plane, team, "gateway-1", check="gateway", ends=True)
        _report(plane, team, "gateway-1", "False", "Refused")
        _until_condition(plane, team, "gateway-1", "Complete")
        assert _conditions(plane, team, "gateway-1")["Available"] == ("False", "Refused")
        _wait_for(plane, HARNESS)
        _report(plane, team, "gateway-1", "True", "Answered")
        assert _conditions(plane, team, "gateway-1")["Complete"][0] == "True"
        _until_clear(reporter)


def test_a_job_without_a_result_is_unknown_and_not_announced(
    plane: ControlPlane, team: str
) -> None:
    with _reporter(plane) as reporter:
        _create(plane, team, "complete-1", check="complete", ends=True)
        _create(plane, team, "failed-1", check="failed", activeDeadlineSeconds=1)
        _create(plane, team, "timeout-1", check="timeout")
        _report(plane, team, "timeout-1", "False", "AdapterTimeout", "no results within 5m0s")
        _create(plane, team, "wrong-1", check="wrong", max_age="1 day")
        _until_condition(plane, team, "complete-1", "Complete")
        _until_condition(plane, team, "failed-1", "Failed")
        names = {"complete", "failed", "timeout", "wrong"}
        _until_states(reporter, {f"{HARNESS} {name}" for name in names}, "unknown")
        whys = _whys(reporter)
        assert whys[f"{HARNESS} complete"].endswith(
            f"Job {team}/complete-1 completed without condition Available"
        )
        assert whys[f"{HARNESS} failed"].endswith(
            f"Job {team}/failed-1 failed without condition Available (DeadlineExceeded)"
        )
        assert whys[f"{HARNESS} timeout"].endswith(
            f"Job {team}/timeout-1 reported AdapterTimeout: no results within 5m0s"
        )
        assert whys[f"{HARNESS} wrong"].endswith("must be a duration such as 24h, 90m or 1h30m")
        assert reporter.metric("unknown", reason=HARNESS) > 0
        assert _check_events(plane) == []


def test_a_job_without_the_label_is_no_check_and_one_elsewhere_is_named(
    plane: ControlPlane, team: str
) -> None:
    with _reporter(plane) as reporter:
        _create(plane, team, "other", check=None)
        _report(plane, team, "other", "False", "Broken")
        _create(plane, "default", "stray", check="stray")
        _report(plane, "default", "stray", "False", "Broken")
        until(
            lambda: any("check Jobs in default" in note for note in reporter.status()["notes"]),
            within=WITHIN,
            what="the check of another namespace is named",
        )
        assert _states(reporter) == {}
        assert _check_events(plane) == []


def test_without_the_right_every_check_is_unknown_until_it_is_granted(
    plane: ControlPlane, team: str
) -> None:
    _create(plane, team, "gateway-1", check="gateway")
    _report(plane, team, "gateway-1", "False", "Refused")
    reporter_rights.install(plane.client, NAMESPACE)
    with _reporter(plane, grant=False) as reporter:
        until(
            lambda: "jobs.batch" in reporter.status()["unread"],
            within=WITHIN,
            what="the page shows what is not read",
        )
        assert reporter.status()["unread"]["jobs.batch"] == {
            "why": "may not list jobs.batch",
            "unknown": sorted([CLUSTER, HARNESS, MODEL]),
            "unknownInPart": [],
            "lessDetail": [],
        }
        assert "not read: jobs.batch: may not list jobs.batch" in reporter.readiness().splitlines()
        assert {CLUSTER, HARNESS, MODEL} <= _states(reporter).keys()
        assert set(_states(reporter).values()) == {"unknown"}
        until(
            lambda: reporter.lines("list, watch", "jobs.batch", CLUSTER),
            within=WITHIN,
            what="the log names the right that is missing",
        )
        assert _check_events(plane) == []
        reporter_rights.install(plane.client, NAMESPACE, ["jobs"])
        _wait_for(plane, HARNESS)


def test_without_the_source_no_job_is_read(plane: ControlPlane, team: str) -> None:
    _create(plane, team, "gateway-1", check="gateway")
    _report(plane, team, "gateway-1", "False", "Refused")
    with ReporterProcess(plane, *FLAGS[1:], overlay(plane.folder)) as reporter:
        page = reporter.status()
        assert "jobs" not in page["kinds"]
        not_checked = [each["notChecked"] for each in page["subjects"] if "notChecked" in each]
        named = {reason: why for each in not_checked for reason, why in each.items()}
        assert {named[reason] for reason in (CLUSTER, HARNESS, MODEL)} == {"add jobs to --sources"}
        assert _states(reporter) == {}


# ---------------------------------------------------------------- Jobs


def _create(
    plane: ControlPlane,
    namespace: str,
    name: str,
    *,
    check: str | None,
    of: str = "",
    ends: bool = False,
    max_age: str = "",
    **spec: object,
) -> None:
    """
    Create a Job. One that *ends* completes at once; no node takes the pods of another one.
    """
    labels = {CHECK_LABEL: check} if check is not None else {}
    annotations = {"reporter.productionstack.kaito.sh/max-age": max_age} if max_age else {}
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": "check", "image": IMAGE}],
        **({} if ends else {"nodeSelector": {"e2e.example/none": "true"}}),
    }
    manifest: Json = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {**labels, **({"kaito.sh/inferenceset": of} if of else {})},
            "annotations": annotations,
        },
        "spec": {"backoffLimit": 0, "template": {"spec": pod}, **spec},
    }
    plane.client.create(plane.client.collection(manifest), manifest)


def _report(
    plane: ControlPlane, namespace: str, name: str, status: str, reason: str, message: str = ""
) -> None:
    """
    Write the condition with the result. The controller's conditions stay, as they are merged by type.
    """
    condition = {
        "type": "Available",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    path = f"{_path(namespace, name)}/status"
    plane.client.patch(path, {"status": {"conditions": [condition]}}, STRATEGIC)


def _path(namespace: str, name: str) -> str:
    return f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}"


def _delete(plane: ControlPlane, namespace: str, name: str) -> None:
    plane.client.delete(f"{_path(namespace, name)}?propagationPolicy=Background")


def _conditions(plane: ControlPlane, namespace: str, name: str) -> dict[str, tuple[str, str]]:
    status = plane.client.get(_path(namespace, name)).get("status", {})
    return {c["type"]: (c["status"], c.get("reason", "")) for c in status.get("conditions", [])}


def _until_condition(plane: ControlPlane, namespace: str, name: str, kind: str) -> None:
    until(
        lambda: _conditions(plane, namespace, name).get(kind, ("",))[0] == "True",
        within=WITHIN,
        what=f"Job {namespace}/{name} is {kind}",
    )


def _until_running(plane: ControlPlane, namespace: str, name: str) -> None:
    until(
        lambda: plane.client.get(_path(namespace, name)).get("status", {}).get("active") == 1,
        within=WITHIN,
        what=f"Job {namespace}/{name} has a pod",
    )


def _seconds_old(plane: ControlPlane, namespace: str, name: str) -> float:
    created = plane.client.get(_path(namespace, name))["metadata"]["creationTimestamp"]
    return (datetime.now(UTC) - datetime.fromisoformat(created)).total_seconds()


# ---------------------------------------------------------------- what the reporter says


def _reporter(
    plane: ControlPlane, *, grant: bool = True
) -> contextlib.AbstractContextManager[ReporterProcess]:
    return ReporterProcess(plane, *FLAGS, overlay(plane.folder), grant=grant)


def _wait_for(plane: ControlPlane, reason: str) -> Event:
    found = events.wait_for(plane.client, reason, within=WITHIN)
    assert found.type == "Warning"
    return found


def _check_events(plane: ControlPlane) -> list[Event]:
    found = events.reporter_events(plane.client)
    return [each for each in found if each.reason in {CLUSTER, HARNESS, MODEL}]


def _verdicts(reporter: ReporterProcess) -> dict[str, Json]:
    """
    Return the verdicts about checks that are not clear, by reason and name of the check.
    """
    return {
        f"{each['reason']} {each.get('item', '')}".strip(): each
        for subject in reporter.status()["subjects"]
        for each in subject["verdicts"]
        if each["reason"] in {CLUSTER, HARNESS, MODEL}
    }


def _states(reporter: ReporterProcess) -> dict[str, str]:
    return {key: each["state"] for key, each in _verdicts(reporter).items()}


def _whys(reporter: ReporterProcess) -> dict[str, str]:
    return {key: each["unknown"] for key, each in _verdicts(reporter).items()}


def _until_states(reporter: ReporterProcess, wanted: set[str], state: str) -> None:
    """
    Wait until these checks, and no others, are in a state.
    """

    def read() -> bool:
        return {key for key, each in _states(reporter).items() if each == state} == wanted

    until(read, within=WITHIN, what=f"{sorted(wanted)} are {state}")


def _until_clear(reporter: ReporterProcess) -> None:
    """
    Wait until no check has trouble, and the end of earlier trouble has settled.
    """
    until(lambda: not _states(reporter), within=WITHIN, what="all checks are clear")
