"""
Kinds that go and come back under a running watch, or are served in another version; and a
namespace that goes with everything in it.
"""

import contextlib
from collections.abc import Iterator
from functools import partial

import pytest

from e2e.controlplane import Client, ControlPlane, Json, until
from e2e.controlplane.crds import PATH
from e2e.faults.support.fault_cost import measured_cost
from e2e.support import events
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.components import namespace_manifest
from e2e.support.production_stack.inference_sets import INVALID_REASON, READY_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS, short_holds_flag


SETS, POOLS = "inferencesets.kaito.sh", "inferencepools.inference.networking.k8s.io"
MISSING, READY = "clusterCRDMissing", "clusterReady"
IN_EPISODE, HEALTHY = 0, 1
LOOK = 90
"""
Seconds within which the loss of a kind counts, which takes two discovery runs, or its return is
seen: 45 on an idle machine.
"""

MODEST = {"cpu": 10.0, "peak": 32.0}
TEAM = "e2e-goes"


@pytest.fixture(scope="module")
def bare(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with inference_sets.lent_plane(small_plane, 3) as plane:
        yield plane


@pytest.fixture
def plane(bare: ControlPlane) -> ControlPlane:
    return inference_sets.healthy_models(bare)


# ---------------------------------------------------------------- removed and installed again


@pytest.mark.parametrize(
    "missed",
    [
        pytest.param(False, id="at-once"),
        pytest.param(True, id="once-it-is-missed", marks=pytest.mark.slow),
    ],
)
def test_kind_that_is_removed_and_installed_again_is_watched_again(
    plane: ControlPlane, missed: bool
) -> None:
    """
    The objects are deleted with the kind, and so the episode ends; new objects have no Event yet.
    """
    client = plane.client
    made = [inference_sets.manifest(client, number) for number in range(3)]
    # With the usual hold a kind that is gone for some seconds is not missed.
    holds = (short_holds_flag(plane),) if missed else ()
    with ReporterProcess(plane, *SHORT_FLAGS, *holds) as reporter:
        inference_sets.misconfigure(client, IN_EPISODE)
        inference_sets.wait_for(client, INVALID_REASON, IN_EPISODE, within=PROMPT_TIMEOUT)
        with measured_cost(reporter, f"{SETS} removed and installed again") as spent:
            plane.remove_crd(SETS)
            if missed:
                events.wait_for(client, MISSING, within=LOOK)
            plane.install_crds(SETS)
            for each in made:
                until(partial(_made, client, each), within=30, what="it is made again")
            inference_sets.misconfigure(client, HEALTHY)
            inference_sets.wait_for(client, INVALID_REASON, HEALTHY, within=LOOK)
            inference_sets.repair(client, HEALTHY)
            inference_sets.wait_for(client, READY_REASON, HEALTHY, within=SETTLE + PROMPT_TIMEOUT)
            inference_sets.wait_state(reporter, IN_EPISODE, "clear", within=PROMPT_TIMEOUT)
        expected = [
            (INVALID_REASON, "model-0"),
            (INVALID_REASON, "model-1"),
            (READY_REASON, "model-1"),
        ]
        cluster = [(MISSING, ""), (READY, "")] if missed else []
        assert sorted(inference_sets.model_events(client)) == sorted([*expected, *cluster])
        assert all(each.count == 1 for each in events.reporter_events(client))
    spent.assert_within(**MODEST, lines=20)


# ---------------------------------------------------------------- another version


@pytest.mark.slow
def test_kind_served_in_an_older_version_is_read_in_that_and_its_episode_goes_on(
    plane: ControlPlane,
) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        inference_sets.misconfigure(client, IN_EPISODE)
        inference_sets.wait_for(client, INVALID_REASON, IN_EPISODE, within=PROMPT_TIMEOUT)
        with measured_cost(reporter, f"{SETS} as v1alpha1 only") as spent:
            with _served_as(client, SETS, "v1alpha1"):
                until(
                    lambda: _sees(reporter, SETS) == "v1alpha1", within=2 * LOOK, what="v1alpha1"
                )
                old = {"version": "v1alpha1"}
                inference_sets.misconfigure(client, HEALTHY, **old)
                inference_sets.wait_for(client, INVALID_REASON, HEALTHY, within=PROMPT_TIMEOUT)
                inference_sets.repair(client, HEALTHY, **old)
                inference_sets.wait_for(
                    client, READY_REASON, HEALTHY, within=SETTLE + PROMPT_TIMEOUT
                )
            until(lambda: "v1beta1" in _sees(reporter, SETS), within=LOOK, what="v1beta1 again")
            inference_sets.repair(client, IN_EPISODE)
            inference_sets.wait_for(client, READY_REASON, IN_EPISODE, within=LOOK)
        expected = [(r, m) for m in ("model-0", "model-1") for r in (INVALID_REASON, READY_REASON)]
        assert sorted(inference_sets.model_events(client)) == sorted(expected)
        assert all(each.count == 1 for each in events.reporter_events(client))
    spent.assert_within(**MODEST, lines=20)


@pytest.mark.slow
def test_kind_served_only_in_a_version_that_cannot_be_read_is_missed_and_blamed_on_no_model(
    plane: ControlPlane,
) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, short_holds_flag(plane)) as reporter:
        with measured_cost(reporter, f"{POOLS} as v1alpha1 only") as spent:
            with _served_as(client, POOLS, "v1alpha1"):
                expected = events.wait_for(client, MISSING, within=LOOK)
                state = f"Required CRD {POOLS} is served as v1alpha1 only, needed is v1; "
                assert expected.message.startswith(state)
            events.wait_for(client, READY, within=LOOK + SETTLE)
            until(lambda: _sees(reporter, POOLS) == "v1", within=LOOK, what="v1 again")
        assert events.reasons(client) == [MISSING, READY]
    spent.assert_within(**MODEST, lines=20)


# ---------------------------------------------------------------- a namespace


def test_namespace_that_goes_with_everything_in_it_causes_no_event(
    control_plane: ControlPlane,
) -> None:
    """
    A finalizer keeps the namespace terminating for a while, half empty. A new namespace of its
    name is another subject.
    """
    client = control_plane.client
    events.clear(client)
    with ReporterProcess(control_plane, *SHORT_FLAGS) as reporter:
        _make_team(client)
        _until_team(client, 2)
        assert f'workload_namespace="{TEAM}"' in reporter.metrics()
        with measured_cost(reporter, "a namespace deleted") as spent:
            client.delete(f"/api/v1/namespaces/{TEAM}")
            until(lambda: _is_half_empty(client), within=60, what="only the held one is left")
            before = _of_models(client)
            until(
                lambda: not _of_team(reporter),
                within=PROMPT_TIMEOUT,
                what="it is no subject any more",
            )
            until(
                lambda: f'"{TEAM}"' not in reporter.metrics(),
                within=PROMPT_TIMEOUT,
                what="series go with their namespace",
            )
            client.patch(_held(), {"metadata": {"finalizers": None}})
            gone = f"/api/v1/namespaces/{TEAM}"
            until(lambda: not client.exists(gone), within=60, what="the namespace is gone")
        assert _of_models(client) == before
        assert not any(each.type == "Normal" for each in before)
        _make_team(client)
        again = _until_team(client, 4)
        assert len({each.name for each in again}) == 4
        client.patch(_held(), {"metadata": {"finalizers": None}})
        client.delete(gone)
        until(lambda: not client.exists(gone), within=60, what="the namespace is gone")
    events.clear(client)
    spent.assert_within(**MODEST, lines=20)


# ---------------------------------------------------------------- used above


def _made(client: Client, manifest: Json) -> bool:
    """
    Create an object and return whether it worked: a kind just installed is not served everywhere
    at once.
    """
    with contextlib.suppress(Exception):
        client.apply(manifest)
        return True
    return False


@contextlib.contextmanager
def _served_as(client: Client, name: str, version: str) -> Iterator[None]:
    """
    Serve the CRD in this version alone; it is a copy of the stored version if it does not exist
    yet.
    """
    path = f"{PATH}/{name}"
    before = client.get(path)["spec"]["versions"]
    stored = next(each for each in before if each["storage"])
    old = [] if version in {v["name"] for v in before} else [_copy(stored, version)]
    versions = [{**each, "served": each["name"] == version} for each in [*before, *old]]
    client.patch(path, {"spec": {"versions": versions}})
    try:
        yield
    finally:
        client.patch(path, {"spec": {"versions": before}})


def _copy(stored: Json, version: str) -> Json:
    return {**stored, "name": version, "storage": False}


def _sees(reporter: ReporterProcess, name: str) -> str:
    """Return the served versions of a watched CRD, or "" while it is not watched."""
    status = reporter.status()
    kind = name.partition(".")[0]
    watched = any(k.startswith(kind) and v == "watched" for k, v in status["kinds"].items())
    return str(status["crds"][name]) if watched else ""


def _make_team(client: Client) -> None:
    labels = {"productionstack.kaito.sh/managed-by": "modelharness"}
    client.apply(namespace_manifest(TEAM, labels))
    for name, finalizers in (("held", ["e2e.example/held"]), ("other", None)):
        meta = {"name": name, "namespace": TEAM, "annotations": inference_sets.WRONG}
        client.apply(
            {
                "apiVersion": "kaito.sh/v1beta1",
                "kind": "InferenceSet",
                "metadata": {**meta, **({"finalizers": finalizers} if finalizers else {})},
                "spec": {
                    "labelSelector": {},
                    "template": {"inference": {"preset": {"name": "phi-4"}}},
                },
            }
        )


def _until_team(client: Client, many: int) -> list[events.Event]:
    """Return the Events of its InferenceSets, of all episodes."""

    def read() -> list[events.Event]:
        found = [
            e for e in events.reporter_events(client, INVALID_REASON) if f"{TEAM}/" in e.message
        ]
        return found if len(found) >= many else []

    return until(read, within=2 * PROMPT_TIMEOUT, what=f"{many} Events of {TEAM}")


def _of_models(client: Client) -> list[events.Event]:
    """
    Return all Events but those of the cluster layer: its components may be announced at any time.
    """
    found = events.reporter_events(client)
    return [each for each in found if not each.reason.startswith("cluster")]


def _held() -> str:
    return f"{inference_sets.GROUP}/v1beta1/namespaces/{TEAM}/inferencesets/held"


def _is_half_empty(client: Client) -> bool:
    found = client.list(f"{inference_sets.GROUP}/v1beta1/namespaces/{TEAM}/inferencesets")
    return [each["metadata"]["name"] for each in found] == ["held"]


def _of_team(reporter: ReporterProcess) -> list[Json]:
    return [each for each in reporter.status()["subjects"] if each.get("namespace") == TEAM]
