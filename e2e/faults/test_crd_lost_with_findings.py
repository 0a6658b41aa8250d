"""
A CRD that is deleted while findings depend on it: the findings become unknown and are named as
unknown.

Discovery runs twice a minute, and a loss counts once a second answer agrees; a changed suffix is
written once a minute. Hence the duration of this test.
"""

from collections.abc import Iterator

import pytest

from e2e.controlplane import ApiError, ControlPlane, Json, until
from e2e.support import events
from e2e.support.production_stack import workload
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS, short_holds_flag


POOLS = "inferencepools.inference.networking.k8s.io"
BEFORE, MEANWHILE = "team-0", "team-1"
PICKER, MODEL = "model-0-inferencepool-epp", "model-0"
MISSING, READY, PICKERS = "clusterCRDMissing", "clusterReady", "inferencesetEPPNotReady"
LOOK, REWRITE = 90, 120
"""Seconds within which a loss is confirmed; seconds within which the suffixes are up to date."""


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    """Two namespaces with a model each and no other writer."""
    with ControlPlane(workload.MINIMAL_OPTIONS) as plane:
        workload.write_all(plane, workload.manifests(2, of_a_team=1))
        yield plane


@pytest.mark.slow
@pytest.mark.controlplane
def test_findings_that_need_a_lost_crd_are_suppressed_and_announced_after_it_is_back(
    plane: ControlPlane,
) -> None:
    pools = [
        each for each in workload.manifests(2, of_a_team=1) if each["kind"] == "InferencePool"
    ]
    with ReporterProcess(plane, *SHORT_FLAGS, short_holds_flag(plane)) as reporter:
        _picker(plane, BEFORE, replicas=0)
        first = events.wait_for(plane.client, PICKERS, within=60, containing=f"{BEFORE}/{MODEL}")
        plane.remove_crd(POOLS)
        lost = events.wait_for(plane.client, MISSING, within=LOOK, containing=_suppressing(1))
        _picker(plane, MEANWHILE, replicas=0)
        events.wait_for(plane.client, MISSING, within=REWRITE, containing=_suppressing(2))
        assert [each.uid for each in events.reporter_events(plane.client)] == [first.uid, lost.uid]
        plane.install_crds(POOLS)
        until(lambda: _made(plane, pools), within=60, what="there are pools again")
        second = events.wait_for(
            plane.client, PICKERS, within=LOOK, containing=f"{MEANWHILE}/{MODEL}"
        )
        ready = events.reporter_events(plane.client, READY)
        assert len(ready) == 1
        assert int(ready[0].version) < int(second.version)
        assert [each.uid for each in events.reporter_events(plane.client, MISSING)] == [lost.uid]
        until(
            lambda: _announced(reporter) == {BEFORE, MEANWHILE},
            within=60,
            what="both are announced",
        )
        assert {each.uid for each in events.reporter_events(plane.client, PICKERS)} == {
            first.uid,
            second.uid,
        }


# ---------------------------------------------------------------- used above


def _suppressing(namespaces: int) -> str:
    return f" (suppressing downstream reasons: {PICKERS} in {namespaces} namespace(s))"


def _picker(plane: ControlPlane, namespace: str, *, replicas: int) -> None:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{PICKER}"
    plane.client.patch(path, {"spec": {"replicas": replicas}})


def _made(plane: ControlPlane, pools: list[Json]) -> bool:
    """
    Create the pools and return whether all exist. The storage of a new CRD refuses every request
    for a moment.
    """
    try:
        workload.write_all(
            plane, [p for p in pools if not plane.client.exists(plane.client.path(p))]
        )
    except (ApiError, AssertionError, ExceptionGroup):
        return False
    return True


def _announced(reporter: ReporterProcess) -> set[str]:
    return {
        subject["namespace"]
        for subject in reporter.status()["subjects"]
        for each in subject["verdicts"]
        if (each["reason"], each["state"]) == (PICKERS, "announced")
    }
