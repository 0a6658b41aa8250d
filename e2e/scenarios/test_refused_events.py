"""The permission to write Events, taken away from a reporter that runs."""

import contextlib
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, Json, reporter_rights, until
from e2e.controlplane.reporter_rights import revoked
from e2e.support import events
from e2e.support.permission_table import first_columns, missing_permissions
from e2e.support.production_stack import components, workload
from e2e.support.production_stack.components import BODY_BASED_ROUTER, ISTIOD
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import PROMPT_TIMEOUT


BBR, ISTIO = "clusterBBRNotReady", "clusterIstioControlPlaneNotReady"
BACK_OFF = 60
"""Seconds that a refused write waits at the longest."""


@pytest.fixture(scope="module")
def audited(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    """A plane whose audit log counts the refused requests."""
    with small_plane.lent() as plane:
        workload.write(plane, inference_sets=1)
        reporter_rights.install(plane.client, NAMESPACE)
        yield plane


def test_refused_events_are_counted_logged_once_per_reason_and_arrive_in_the_end(
    audited: ControlPlane,
) -> None:
    at_once = ("--startup-grace-seconds=0", "--emission=all")
    with contextlib.ExitStack() as taken:
        taken.enter_context(revoked(audited.client, NAMESPACE, "events"))
        with ReporterProcess(audited, *at_once, grant=False) as reporter:
            for component in (ISTIOD, BODY_BASED_ROUTER):
                components.scale(audited.client, component, 0)
            until(lambda: _refused(reporter) >= 6, within=60, what="each is tried three times")
            columns = first_columns(missing_permissions(reporter))
            assert "create, patch, get, list events in kube-system" in columns
            assert events.reporter_events(audited.client) == []
            taken.close()
            for reason in (ISTIO, BBR):
                events.wait_for(audited.client, reason, within=BACK_OFF + PROMPT_TIMEOUT)
                assert len(reporter.lines("ERROR", f"{reason} was refused: create event")) == 1
            # Audited and counted by two processes, each in its own time.
            until(
                lambda: _refused(reporter) == _refusals(audited),
                within=PROMPT_TIMEOUT,
                what="each refusal is counted",
            )
            assert [each.count for each in events.reporter_events(audited.client)] == [1, 1]
            assert "Traceback" not in reporter.log()
            assert reporter.stop() == 0


def _refused(reporter: ReporterProcess) -> int:
    return int(reporter.metric("event_writes_total", result="refused"))


def _refusals(plane: ControlPlane) -> int:
    """Return the refusals that the API server counted."""
    return sum(_is_refused_event(entry) for entry in plane.audit())


def _is_refused_event(entry: Json) -> bool:
    about_events = entry.get("objectRef", {}).get("resource") == "events"
    refused: bool = entry.get("responseStatus", {}).get("code") == 403
    return about_events and refused and entry["verb"] == "create"
