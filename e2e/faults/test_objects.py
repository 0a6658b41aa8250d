"""Objects that are malformed: of another shape than their schema requires, or huge."""

from collections.abc import Iterator
from http import HTTPStatus

import pytest

from e2e.controlplane import ApiError, ControlPlane, Json, until
from e2e.faults.support.fault_cost import measured_cost
from e2e.support import etcd_objects, events
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON, READY_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS


# The Ready pods of the example have no page, of which the log speaks.
FLAGS = (*SHORT_FLAGS, "--scrape=loading")
ODD, HEALTHY, NEW, HUGE, SPARE = 0, 1, 7, 3, 5
CHANGES = 50
LARGE = 3_000_000
"""Bytes of the large object: twice the limit of etcd by default."""

CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/inferencesets.kaito.sh"


@pytest.fixture(scope="module")
def bare() -> Iterator[ControlPlane]:
    with inference_sets.bare_plane(6, etcd_flags=etcd_objects.LARGE_REQUEST_FLAGS) as plane:
        yield plane


@pytest.fixture
def plane(bare: ControlPlane) -> ControlPlane:
    return inference_sets.healthy_models(bare)


# ---------------------------------------------------------------- of another shape


@pytest.fixture
def untyped(plane: ControlPlane) -> Iterator[None]:
    """Accept any InferenceSet for a while."""
    versions = plane.client.get(CRD)["spec"]["versions"]
    anything = {
        "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    }
    plane.client.patch(CRD, {"spec": {"versions": [{**v, "schema": anything} for v in versions]}})
    until(lambda: _takes_anything(plane), within=60, what="InferenceSets may be anything")
    yield
    plane.client.patch(CRD, {"spec": {"versions": versions}})
    until(lambda: _takes_anything(plane) is False, within=60, what="InferenceSets are typed again")


def test_an_undecodable_object_hides_no_other_and_is_evaluated_when_it_can_be_decoded(
    plane: ControlPlane, untyped: None
) -> None:
    """
    One object becomes undecodable in mid-episode and heals meanwhile; another is undecodable from
    the start and has a fault.
    """
    client = plane.client
    with ReporterProcess(plane, *FLAGS) as reporter:
        inference_sets.misconfigure(client, ODD)
        inference_sets.wait_for(client, INVALID_REASON, ODD, within=PROMPT_TIMEOUT)
        with measured_cost(reporter, f"{CHANGES} changes of an undecodable object") as spent:
            _spoil(plane, ODD)
            inference_sets.repair(client, ODD)
            client.create(
                inference_sets.GROUP + "/v1beta1/namespaces/team-0/inferencesets", _new(plane)
            )
            for number in range(CHANGES):
                client.patch(inference_sets.path(ODD), _noted(number))
            inference_sets.wait_state(reporter, ODD, "unknown", within=PROMPT_TIMEOUT)
            inference_sets.misconfigure(client, HEALTHY)
            inference_sets.wait_for(client, INVALID_REASON, HEALTHY, within=PROMPT_TIMEOUT)
            inference_sets.repair(client, HEALTHY)
            inference_sets.wait_for(client, READY_REASON, HEALTHY, within=SETTLE + PROMPT_TIMEOUT)
        of_others = [
            (INVALID_REASON, "model-0"),
            (INVALID_REASON, "model-1"),
            (READY_REASON, "model-1"),
        ]
        assert inference_sets.model_events(client) == of_others
        assert len(reporter.lines("cannot be decoded")) == 2
        spent.assert_within(cpu=5, peak=16, lines=10)
        reporter.stop()
        reporter.start()
        inference_sets.wait_state(reporter, ODD, "unknown", within=PROMPT_TIMEOUT)
        _mend(plane, ODD)
        _mend(plane, NEW)
        inference_sets.wait_for(client, READY_REASON, ODD, within=SETTLE + PROMPT_TIMEOUT)
        inference_sets.wait_for(client, INVALID_REASON, NEW, within=PROMPT_TIMEOUT)
        later = [(READY_REASON, "model-0"), (INVALID_REASON, "model-7")]
        assert sorted(inference_sets.model_events(client)) == sorted([*of_others, *later])
        assert all(each.count == 1 for each in events.reporter_events(client))
    client.delete(inference_sets.path(NEW))


def _spoil(plane: ControlPlane, number: int) -> None:
    plane.client.patch(inference_sets.path(number), {"spec": {"nodeCountLimit": "three"}})


def _mend(plane: ControlPlane, number: int) -> None:
    plane.client.patch(inference_sets.path(number), {"spec": {"nodeCountLimit": None}})


def _new(plane: ControlPlane) -> Json:
    made = inference_sets.manifest(plane.client, HEALTHY)
    made["metadata"].update(name="model-7", annotations=inference_sets.WRONG)
    made["spec"]["nodeCountLimit"] = "three"
    return made


def _noted(number: int) -> Json:
    return {"metadata": {"annotations": {"e2e.example/change": str(number)}}}


def _takes_anything(plane: ControlPlane) -> bool | None:
    """
    Return whether the API server accepts any object, a moment after the schema was changed. Until
    then it may also answer 429, because its storage starts anew.
    """
    try:
        _spoil(plane, SPARE)
        _mend(plane, SPARE)
    except ApiError as err:
        if err.status == HTTPStatus.TOO_MANY_REQUESTS:
            return None
        return False
    return True


# ---------------------------------------------------------------- huge


@pytest.mark.slow
def test_object_of_three_megabytes_is_read_like_any_other_and_leaves_no_memory_behind(
    plane: ControlPlane,
) -> None:
    """
    Such an object never comes through an API server, whose client sends etcd 2 MiB at most. It
    comes by the watch: a list shows it as well, and would hide that the watch breaks at it.
    """
    client, small = plane.client, etcd_objects.read(plane, _key(HUGE))
    with ReporterProcess(plane, *FLAGS) as reporter:
        before = _lists(reporter)
        with measured_cost(reporter, f"an object of {LARGE} bytes, 20 times") as spent:
            for number in range(20):
                etcd_objects.write(plane, _key(HUGE), _large(small, inference_sets.WRONG, number))
            inference_sets.wait_for(client, INVALID_REASON, HUGE, within=2 * PROMPT_TIMEOUT)
            assert len(client.raw("GET", inference_sets.path(HUGE))) > LARGE
            etcd_objects.write(plane, _key(HUGE), _large(small, {}, 20))
            inference_sets.wait_for(client, READY_REASON, HUGE, within=SETTLE + 2 * PROMPT_TIMEOUT)
        assert _lists(reporter) == before
        reporter.stop()
        reporter.start()
        etcd_objects.write(plane, _key(HUGE), small)
        inference_sets.misconfigure(client, HEALTHY)
        inference_sets.wait_for(client, INVALID_REASON, HEALTHY, within=PROMPT_TIMEOUT)
        assert inference_sets.model_events(client) == [
            (INVALID_REASON, "model-3"),
            (READY_REASON, "model-3"),
            (INVALID_REASON, "model-1"),
        ]
    spent.assert_within(cpu=10, peak=64, lines=10)


def _lists(reporter: ReporterProcess) -> float:
    return reporter.metric("relists_total", kind="inferencesets.kaito.sh")


def _key(number: int) -> str:
    return f"/registry/kaito.sh/inferencesets/{inference_sets.name(number)}"


def _large(small: Json, annotations: Json, number: int) -> Json:
    """
    Return an object with a large annotation. Annotations are kept, so this is the most expensive
    kind.
    """
    notes = {"e2e.example/notes": f"{number:010}" * (LARGE // 10)}
    return {**small, "metadata": {**small["metadata"], "annotations": annotations | notes}}
