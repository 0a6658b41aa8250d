"""Permissions revoked from a running reporter, missing from its start, and granted again."""

import contextlib
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, reporter_rights, until
from e2e.controlplane.reporter_rights import NAME, revoked
from e2e.faults.support.cuttable_connection import CuttableConnection, cuttable_connection
from e2e.support import events
from e2e.support.permission_table import first_columns, missing_permissions
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER, ISTIOD, KAITO_WORKSPACE
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.timeouts import DEPLOYMENT_REASONS, PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS
from reporter.evaluation.registry import SPECS
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.enums import Layer
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


BLIND_AFTER = 30
PAUSE = 33
"""
The longest from one try to the next of what was refused; a new reporter's pauses begin at one.
"""

NOTICED = 60
"""The longest until a permission that is taken away is noticed without a refused request."""

REVIEW = 63
"""The longest between two reviews of a permission that is missing."""

ALL_GRANTED = "permissions that are needed are granted"
BBR, ISTIO, READY = "clusterBBRNotReady", "clusterIstioControlPlaneNotReady", "clusterReady"
KAITO = "clusterKaitoControllerNotReady"


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        reporter_rights.install(plane.client, NAMESPACE)
        yield plane


@pytest.fixture
def way(plane: ControlPlane) -> Iterator[CuttableConnection]:
    with cuttable_connection(plane) as way:
        yield way


# ---------------------------------------------------------------- to Deployments


def test_right_taken_away_clears_nothing_alarms_nothing_and_is_found_when_given_back(
    plane: ControlPlane, way: CuttableConnection
) -> None:
    """
    The API server authorizes a watch when it begins. An open watch goes on, and its objects count.
    """
    kubeconfig = plane.service_account_kubeconfig(NAMESPACE, NAME)
    over_wire = f"--kubeconfig={way.kubeconfig(kubeconfig)}"
    with ReporterProcess(plane, *SHORT_FLAGS, over_wire) as reporter:
        components.scale(plane.client, ISTIOD, 0)
        event = events.wait_for(plane.client, ISTIO, within=PROMPT_TIMEOUT)
        with revoked(plane.client, NAMESPACE, "deployments"):
            components.scale(plane.client, BODY_BASED_ROUTER, 0)
            both = f"(also: {BBR})"
            event = events.wait_for(
                plane.client, ISTIO, within=2 * PROMPT_TIMEOUT, containing=both
            )
            # A write whose answer is lost is sent again, and the Event gets another version.
            until(
                lambda: reporter.metric("event_writes_total") == 2,
                within=PROMPT_TIMEOUT,
                what="both writes are answered",
            )
            way.reset_connections()
            until(lambda: _may_not(reporter), within=2 * PROMPT_TIMEOUT, what="it is logged")
            components.scale(plane.client, ISTIOD, 1)
            components.scale(plane.client, KAITO_WORKSPACE, 0)
            within = BLIND_AFTER + 2 * PROMPT_TIMEOUT
            until(lambda: _all_unknown(reporter), within=within, what="all is unknown")
            assert set(reporter.states().values()) == {"unknown"}
            assert [each.version for each in events.reporter_events(plane.client)] == [
                event.version
            ]
            assert len(reporter.lines("WARNING", "may not watch deployments.apps")) == 1
        own = events.wait_for(plane.client, BBR, within=PAUSE + SETTLE + PROMPT_TIMEOUT)
        assert own.message.endswith(f" (also: {KAITO})")
        assert len(reporter.lines("deployments.apps: watching again")) == 1


def test_right_missing_at_the_start_is_logged_as_a_table_and_found_when_given_back(
    plane: ControlPlane,
) -> None:
    with contextlib.ExitStack() as taken:
        taken.enter_context(revoked(plane.client, NAMESPACE, "deployments"))
        with ReporterProcess(plane, *SHORT_FLAGS, grant=False) as reporter:
            components.scale(plane.client, BODY_BASED_ROUTER, 0)
            table = missing_permissions(reporter)
            assert table[0].split() == ["MISSING", "ON", "UNKNOWN", "REASONS"]
            assert "list, watch deployments.apps" in first_columns(table)
            assert all(reason in " ".join(table) for reason in DEPLOYMENT_REASONS)
            assert _all_unknown(reporter)
            assert events.reporter_events(plane.client) == []
            taken.close()
            events.wait_for(plane.client, BBR, within=PAUSE + PROMPT_TIMEOUT)
            assert set(reporter.states()) == {BBR}


# ---------------------------------------------------------------- where it is shown


@pytest.mark.slow
def test_right_taken_away_is_shown_after_a_403_until_it_is_given_back(
    plane: ControlPlane, way: CuttableConnection
) -> None:
    kubeconfig = plane.service_account_kubeconfig(NAMESPACE, NAME)
    over_wire = f"--kubeconfig={way.kubeconfig(kubeconfig)}"
    with ReporterProcess(plane, *SHORT_FLAGS, over_wire) as reporter:
        until(lambda: reporter.lines(ALL_GRANTED), within=60, what="all are granted")
        assert _missing(reporter) == {}
        assert reporter.metric("missing_rights") == reporter.metric("unknown_rights") == 0
        with revoked(plane.client, NAMESPACE, "deployments"):
            way.reset_connections()
            until(lambda: _missing(reporter), within=PAUSE + PROMPT_TIMEOUT, what="it is shown")
            assert list(_missing(reporter)) == ["list deployments.apps", "watch deployments.apps"]
            assert set(DEPLOYMENT_REASONS) <= set(_missing(reporter)["list deployments.apps"])
            assert reporter.metric("missing_rights") == 2
        until(lambda: not _missing(reporter), within=REVIEW + PROMPT_TIMEOUT, what="it is back")
        assert reporter.metric("missing_rights") == 0
        assert len(reporter.lines("list deployments.apps is granted again")) == 1
        assert len(reporter.lines(ALL_GRANTED)) == 2


def test_right_taken_away_is_noticed_within_a_minute_although_its_watch_goes_on(
    plane: ControlPlane,
) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        until(lambda: reporter.lines(ALL_GRANTED), within=60, what="all are granted")
        with revoked(plane.client, NAMESPACE, "deployments"):
            until(lambda: _missing(reporter), within=NOTICED, what="it is noticed")
            assert list(_missing(reporter)) == ["list deployments.apps", "watch deployments.apps"]
            assert reporter.metric("rollup_missing_rights", right="list deployments.apps") == 1
            assert reporter.status()["kinds"]["deployments"] == "watched"
        until(lambda: not _missing(reporter), within=REVIEW + PROMPT_TIMEOUT, what="it is back")


def test_right_to_write_events_that_is_taken_away_is_shown_before_all_others(
    plane: ControlPlane,
) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        until(lambda: reporter.lines(ALL_GRANTED), within=60, what="all are granted")
        with revoked(plane.client, NAMESPACE, "events", "create"):
            components.scale(plane.client, BODY_BASED_ROUTER, 0)
            until(lambda: _missing(reporter), within=2 * PROMPT_TIMEOUT, what="it is shown")
            assert list(_missing(reporter)) == ["create events in kube-system"]
            assert reporter.metric("missing_rights", verb="create", resource="events") == 1
        events.wait_for(plane.client, BBR, within=PAUSE + PROMPT_TIMEOUT)
        until(lambda: not _missing(reporter), within=REVIEW + PROMPT_TIMEOUT, what="it is back")
        assert reporter.metric("missing_rights") == 0


# ---------------------------------------------------------------- to what makes subjects


@pytest.mark.parametrize(
    ("resource", "layers"),
    [
        pytest.param("inferencesets", [Layer.MODELDEPLOYMENT], marks=pytest.mark.slow),
        pytest.param("gateways", [Layer.MODELHARNESS], marks=pytest.mark.slow),
        ("namespaces", [Layer.MODELHARNESS, Layer.MODELDEPLOYMENT]),
    ],
)
def test_layer_whose_subjects_may_not_be_listed_is_unknown_wherever_a_user_looks(
    plane: ControlPlane, resource: str, layers: list[Layer]
) -> None:
    kind = next(each for each in DEFAULT_KINDS if each.resource == resource).group_resource
    why = f"{kind} not listed yet: may not list {kind}"
    with contextlib.ExitStack() as taken:
        taken.enter_context(revoked(plane.client, NAMESPACE, resource))
        with ReporterProcess(plane, *SHORT_FLAGS, grant=False) as reporter:
            expected = [
                "ok",
                *(f"unknown: {layer}: {why}" for layer in layers),
                f"not read: {kind}: may not list {kind}",
            ]
            # A line about a request that has failed once goes with the next try.
            until(
                lambda: reporter.readiness().splitlines() == expected,
                within=PROMPT_TIMEOUT,
                what=f"it is ready but for {expected[1:]}",
            )
            table = " ".join(" ".join(missing_permissions(reporter)).split())
            for layer in layers:
                entries = DEFAULT_CATALOGUE.evaluated_entries(layer)
                reasons = [str(e.reason) for e in entries if SPECS[e.probe].source is None]
                assert {r: _unknown_everywhere(reporter, r) for r in reasons} == dict.fromkeys(
                    reasons, 1
                )
                assert _placeholder(reporter, layer) == dict.fromkeys(reasons, why)
                assert [r for r in reasons if r not in table] == []
            taken.close()
            until(
                lambda: reporter.readiness() == "ok\n",
                within=PAUSE + PROMPT_TIMEOUT,
                what="all subjects are known",
            )
            for layer in layers:
                assert _placeholder(reporter, layer) is None
            assert reporter.metric("reason_state", state="unknown", workload_namespace="") == 0
            assert events.reporter_events(plane.client) == []


# ---------------------------------------------------------------- used above


def _missing(reporter: ReporterProcess) -> dict[str, list[str]]:
    found: dict[str, list[str]] = reporter.status()["permissions"]["missing"]
    return found


def _may_not(reporter: ReporterProcess) -> bool:
    sight: str = reporter.status()["kinds"]["deployments"]
    return sight.startswith("not watched since") and sight.endswith(
        "may not watch deployments.apps"
    )


def _all_unknown(reporter: ReporterProcess) -> bool:
    """Return whether the metric reports every reason of a Deployment as unknown."""
    return all(
        reporter.metric("reason_state", state="unknown", reason=reason) == 1
        for reason in DEPLOYMENT_REASONS
    )


def _unknown_everywhere(reporter: ReporterProcess, reason: str) -> float:
    return reporter.metric("reason_state", state="unknown", reason=reason, workload_namespace="")


def _placeholder(reporter: ReporterProcess, layer: Layer) -> dict[str, str] | None:
    """Return why each reason is unknown for what stands for all subjects of a layer."""
    for subject in reporter.status()["subjects"]:
        if (subject["layer"], subject["namespace"]) == (layer, ""):
            return {each["reason"]: each["unknown"] for each in subject["verdicts"]}
    return None
