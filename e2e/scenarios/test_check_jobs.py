"""
Check Jobs with ``--sources=jobs`` on a real API server: real Jobs, run by the real Job controller.

A condition is written as the container beside a check writes it: by a patch of the Job's status.
"""

import contextlib
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, Json, reporter_rights, until
from e2e.support import check_jobs, events
from e2e.support.cases.short_holds import overlay
from e2e.support.events import Event
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from reporter.kube.access_review import Permission


CLUSTER, HARNESS, MODEL = (
    "clusterCheckFailed",
    "modelharnessCheckFailed",
    "inferencesetCheckFailed",
)
SET = "checked"
TEMPLATE = {"inference": {"preset": {"name": "phi-4"}}}
WITHIN = 60
"""The time limit of each step, in seconds: twice the longest pause of a refused watch."""

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
    check_jobs.delete_all(stack)
    events.clear(stack.client)


@pytest.fixture
def team(plane: ControlPlane, namespace: str) -> str:
    """A workload namespace with an InferenceSet, of which nothing serves."""
    labels = {"productionstack.kaito.sh/managed-by": "modelharness"}
    plane.client.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}})
    inference_set = {
        "apiVersion": "kaito.sh/v1beta1",
        "kind": "InferenceSet",
        "metadata": {"name": SET, "namespace": namespace},
        "spec": {"replicas": 1, "labelSelector": {}, "template": TEMPLATE},
    }
    plane.client.create(plane.client.collection(inference_set), inference_set)
    return namespace


def test_each_layer_has_its_checks_and_a_failure_is_read_back_after_a_restart(
    plane: ControlPlane, team: str
) -> None:
    with _reporter(plane) as reporter:
        check_jobs.create(plane, team, "gateway-1", check="gateway")
        check_jobs.create(plane, team, "smoke-1", check="smoke", of=SET)
        check_jobs.create(plane, "kube-system", "dns-1", check="dns")
        check_jobs.report(
            plane, team, "gateway-1", "False", "Refused", "the Gateway closes the connection"
        )
        check_jobs.report(
            plane, team, "smoke-1", "False", "NoAnswer", "503 at https://x.test/?sig=s3cret"
        )
        check_jobs.report(plane, "kube-system", "dns-1", "False", "NameNotResolved")
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
        check_jobs.report(plane, team, "gateway-1", "True", "Answered")
        _until_states(reporter, {f"{CLUSTER} dns", f"{MODEL} smoke"}, "announced")
    after = {each.uid: each.count for each in _check_events(plane)}
    assert after.keys() == {each.uid for each in found.values()}, "no second Event"


def test_the_newest_job_that_has_reported_decides(plane: ControlPlane, team: str) -> None:
    with _reporter(plane) as reporter:
        check_jobs.create(plane, team, "smoke-1", check="smoke", of=SET)
        check_jobs.report(plane, team, "smoke-1", "False", "NoAnswer")
        first = _wait_for(plane, MODEL)
        until(
            lambda: check_jobs.seconds_old(plane, team, "smoke-1") > 1,
            within=WITHIN,
            what="it is older",
        )
        check_jobs.create(plane, team, "smoke-2", check="smoke", of=SET)
        check_jobs.until_running(plane, team, "smoke-2")
        assert _states(reporter)[f"{MODEL} smoke"] == "announced", "the one before still counts"
        check_jobs.report(plane, team, "smoke-2", "True", "Answered")
        _until_clear(reporter)
        check_jobs.delete(plane, team, "smoke-2")
        second = events.wait_for(plane.client, MODEL, within=WITHIN, besides=[first])
        assert "of Job smoke-1 failed" in second.message
        check_jobs.delete(plane, team, "smoke-1")
        _until_clear(reporter)


def test_the_condition_stays_when_the_controller_completes_the_job(
    plane: ControlPlane, team: str
) -> None:
    """
    The controller writes its own conditions beside it, with the Job ended as with it running.
    """
    with _reporter(plane) as reporter:
        check_jobs.create(plane, team, "gateway-1", check="gateway", ends=True)
        check_jobs.report(plane, team, "gateway-1", "False", "Refused")
        check_jobs.until_condition(plane, team, "gateway-1", "Complete")
        assert check_jobs.conditions(plane, team, "gateway-1")["Available"] == ("False", "Refused")
        _wait_for(plane, HARNESS)
        check_jobs.report(plane, team, "gateway-1", "True", "Answered")
        assert check_jobs.conditions(plane, team, "gateway-1")["Complete"][0] == "True"
        _until_clear(reporter)


def test_a_job_without_a_result_is_unknown_and_not_announced(
    plane: ControlPlane, team: str
) -> None:
    with _reporter(plane) as reporter:
        check_jobs.create(plane, team, "complete-1", check="complete", ends=True)
        check_jobs.create(plane, team, "failed-1", check="failed", activeDeadlineSeconds=1)
        check_jobs.create(plane, team, "timeout-1", check="timeout")
        check_jobs.report(
            plane, team, "timeout-1", "False", "AdapterTimeout", "no results within 5m0s"
        )
        check_jobs.create(plane, team, "wrong-1", check="wrong", max_age="1 day")
        check_jobs.until_condition(plane, team, "complete-1", "Complete")
        check_jobs.until_condition(plane, team, "failed-1", "Failed")
        names = {"complete", "failed", "timeout", "wrong"}
        _until_states(reporter, {f"{HARNESS} {name}" for name in names}, "unknown")
        _until_whys(
            reporter,
            complete=f"Job {team}/complete-1 completed without condition Available",
            failed=f"Job {team}/failed-1 failed without condition Available (DeadlineExceeded)",
            timeout=f"Job {team}/timeout-1 reported AdapterTimeout: no results within 5m0s",
            wrong="must be a duration such as 24h, 90m or 1h30m",
        )
        assert reporter.metric("reason_state", state="unknown", reason=HARNESS) > 0
        assert _check_events(plane) == []


def test_a_job_without_the_label_is_no_check_and_one_elsewhere_is_named(
    plane: ControlPlane, team: str
) -> None:
    with _reporter(plane) as reporter:
        check_jobs.create(plane, team, "other", check=None)
        check_jobs.report(plane, team, "other", "False", "Broken")
        check_jobs.create(plane, "default", "stray", check="stray")
        check_jobs.report(plane, "default", "stray", "False", "Broken")
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
    check_jobs.create(plane, team, "gateway-1", check="gateway")
    check_jobs.report(plane, team, "gateway-1", "False", "Refused")
    reporter_rights.install(plane.client, NAMESPACE)
    listing = Permission("list", "batch", "jobs")
    reporter_rights.until_allowed(plane.client, NAMESPACE, listing, allowed=False)
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
    check_jobs.create(plane, team, "gateway-1", check="gateway")
    check_jobs.report(plane, team, "gateway-1", "False", "Refused")
    with ReporterProcess(plane, *FLAGS[1:], overlay(plane.folder)) as reporter:
        page = reporter.status()
        assert "jobs" not in page["kinds"]
        not_checked = [each["notChecked"] for each in page["subjects"] if "notChecked" in each]
        named = {reason: why for each in not_checked for reason, why in each.items()}
        assert {named[reason] for reason in (CLUSTER, HARNESS, MODEL)} == {"add jobs to --sources"}
        assert _states(reporter) == {}


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
    """Return the verdicts about checks that are not clear, by reason and name of the check."""
    return {
        f"{each['reason']} {each.get('item', '')}".strip(): each
        for subject in reporter.status()["subjects"]
        for each in subject["verdicts"]
        if each["reason"] in {CLUSTER, HARNESS, MODEL}
    }


def _states(reporter: ReporterProcess) -> dict[str, str]:
    return {key: each["state"] for key, each in _verdicts(reporter).items()}


def _until_whys(reporter: ReporterProcess, **ends: str) -> None:
    """
    Wait until each check of the harness is Unknown for a reason that ends so. A check is Unknown also
    before its Job has ended.
    """

    def read() -> bool:
        whys = {key: each.get("unknown", "") for key, each in _verdicts(reporter).items()}
        return all(whys.get(f"{HARNESS} {name}", "").endswith(end) for name, end in ends.items())

    until(read, within=WITHIN, what=f"the checks are unknown: {ends}")


def _until_states(reporter: ReporterProcess, wanted: set[str], state: str) -> None:
    """Wait until these checks, and no others, are in a state."""

    def read() -> bool:
        return {key for key, each in _states(reporter).items() if each == state} == wanted

    until(read, within=WITHIN, what=f"{sorted(wanted)} are {state}")


def _until_clear(reporter: ReporterProcess) -> None:
    """Wait until no check has trouble, and the end of earlier trouble has settled."""
    until(lambda: not _states(reporter), within=WITHIN, what="all checks are clear")
