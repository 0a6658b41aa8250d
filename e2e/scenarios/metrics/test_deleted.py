"""Series of deleted namespaces and InferenceSets, of which none is left."""

from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support.observer import NO_PAGES
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.production_stack.workload import SETS_OF_A_TEAM
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS
from reporter.kinds.resource_kind import SILENCE_PREFIX


pytestmark = pytest.mark.controlplane

SLOW = 120
FLAGS = (*SHORT_FLAGS, NO_PAGES, "--rollup-metrics=namespace")
STAYS, GOES, OF_ANOTHER_TEAM = 0, 1, SETS_OF_A_TEAM
"""Numbers of InferenceSets: two of team-0, and the one of team-1."""

WITHOUT_ACCOUNTS = "--disable-admission-plugins=ServiceAccount"
"""The flag with which pods are written before their namespace has a ServiceAccount."""

EXPECTED = {"reason_state", "finding_since", "silence_until", "rollup_state"}
SILENCED = {f"{SILENCE_PREFIX}until": "2099-01-01T00:00:00Z", f"{SILENCE_PREFIX}reasons": "all"}


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """Yield a control plane whose controllers delete what a namespace holds."""
    with inference_sets.bare_plane(
        SETS_OF_A_TEAM + 1, controllers=True, apiserver_flags=(WITHOUT_ACCOUNTS,)
    ) as plane:
        yield plane


def _lines(reporter: ReporterProcess, text: str) -> list[str]:
    return [line for line in reporter.metrics().splitlines() if text in line]


def _series(reporter: ReporterProcess) -> set[str]:
    """Return those of the expected series that team-1 has, by the ends of their names."""
    names = {line.partition("{")[0] for line in _lines(reporter, '"team-1"')}
    return {each for each in EXPECTED if any(each in name for name in names)}


def test_a_deleted_inference_set_and_a_deleted_namespace_leave_no_series(
    plane: ControlPlane,
) -> None:
    client = plane.client
    silenced = inference_sets.path(OF_ANOTHER_TEAM)
    with ReporterProcess(plane, *FLAGS) as reporter:
        client.patch(silenced, {"metadata": {"annotations": SILENCED}})
        for number in (STAYS, GOES):
            inference_sets.misconfigure(client, number)
            inference_sets.wait_state(reporter, number, "announced", within=SLOW)
        inference_sets.misconfigure(client, OF_ANOTHER_TEAM)
        inference_sets.wait_state(reporter, OF_ANOTHER_TEAM, "silenced", within=SLOW)
        until(lambda: _series(reporter) >= EXPECTED, within=SLOW, what="all series of team-1")

        client.delete(inference_sets.path(GOES))
        until(lambda: not _lines(reporter, '"model-1"'), within=SLOW, what="no series of model-1")
        assert _lines(reporter, '"model-0"')

        client.delete("/api/v1/namespaces/team-1")
        until(
            lambda: not client.exists("/api/v1/namespaces/team-1"),
            within=SLOW,
            what="the namespace is deleted",
        )
        until(lambda: not _lines(reporter, "team-1"), within=SLOW, what="no series of team-1")
        kept = {"workload_namespace": "team-0", "inferenceset": "model-0", "state": "active"}
        found = reporter.metric("inferenceset_reason_state", reason=INVALID_REASON, **kept)
        assert found == 1
