"""Replays of many models over time, with the default catalogue."""

from datetime import timedelta

import msgspec
import pytest

from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES
from reporter.model.enums import Layer
from tests.support.builders import MINUTE, NOON
from tests.support.catalogue_fixture import DEFAULT_FLAGS, reasons_of
from tests.support.model_builders import (
    TEAM,
    a_model_pod,
    a_model_store,
    a_set,
    a_team,
    a_workspace,
    lost,
)
from tests.support.replay import Replay


MANY = 200
FAILED = "inferencesetModelPodsNotReady"


class ModelReplay(Replay):
    """
    A replay with *many* InferenceSets in one namespace, without routes and pickers.

    *pod*: what the pod of each has when the process begins.
    """

    def __init__(self, many, **pod):
        self.many, self.first_pod = many, pod
        super().__init__(reasons_of(Layer.MODELDEPLOYMENT))

    def __post_init__(self):
        self.evaluator = Evaluator(self.catalogue, PROBES, DEFAULT_FLAGS, self.settings)
        self.store = a_model_store(a_team())
        for number in range(self.many):
            self.make(number, **self.first_pod)
        self.run_pass()

    def run_pass(self):
        self.subjects = self.store.take_dirty()
        return super().run_pass()

    def make(self, number, **pod):
        name = f"m{number:03}"
        made = a_set()
        meta = msgspec.structs.replace(made.metadata, name=name)
        self.store.upsert(INFERENCE_SETS, msgspec.structs.replace(made, metadata=meta))
        self.store.upsert(WORKSPACES, a_workspace(f"{name}-a", of=name))
        self.store.upsert(PODS, a_model_pod(0, f"{name}-a", of=name, **pod))

    def pod(self, number, **changes):
        name = f"m{number:03}"
        return self.put(PODS, a_model_pod(0, f"{name}-a", of=name, **changes))

    def put(self, kind, made):
        self.store.upsert(kind, made)
        return self.run_pass()

    def fail(self, number):
        loop = {"waiting": "ImagePullBackOff", "message": "not found"}
        return self.pod(number, **loop, **lost(self.now))


def test_two_hundred_that_fail_within_a_minute_give_one_event():
    play = ModelReplay(MANY)
    for number in range(MANY):
        play.fail(number).advance(MINUTE / MANY)
    play.advance(6 * MINUTE)
    assert {r.key for r in play.writes} == {play.writes[0].key}
    assert f"{MANY} InferenceSets (m000, m001, m002 and {MANY - 3} more): " in play.last_message
    assert f" InferenceSet {TEAM}/m000: model pod m000-a-0 is not ready" in play.last_message
    for number in range(MANY):
        play.pod(number)
    play.advance(2 * MINUTE)
    assert [r.key.reason for r in play.writes].count("inferencesetReady") == 1
    assert play.last_message.startswith(
        f"Namespace {TEAM}: {MANY} InferenceSets (m000, m001, m002 and"
    )


@pytest.mark.parametrize("labelled", [False, True])
def test_a_namespace_is_evaluated_from_its_label_on(labelled):
    play = ModelReplay(1)
    bare = msgspec.structs.replace(a_team().metadata, labels={})
    play.put(NAMESPACES, msgspec.structs.replace(a_team(), metadata=bare))
    play.fail(0).advance(5 * MINUTE)
    assert play.new_writes == []
    if labelled:
        play.put(NAMESPACES, a_team())
    play.advance(4 * MINUTE)
    assert play.new_writes == ([f"{FAILED} x1"] if labelled else [])


def test_a_lost_label_ends_the_episode_without_an_event():
    play = ModelReplay(1)
    play.fail(0).advance(MINUTE)
    assert play.new_writes == [f"{FAILED} x1"]
    bare = msgspec.structs.replace(a_team().metadata, labels={})
    play.put(NAMESPACES, msgspec.structs.replace(a_team(), metadata=bare))
    assert play.advance(20 * MINUTE).new_writes == []


def test_a_restart_announces_nothing_again_and_restarts_no_hold():
    play = ModelReplay(1)
    play.fail(0).advance(MINUTE)
    assert play.new_writes == [f"{FAILED} x1"]
    play.restart(back_after=20)
    assert play.advance(3 * MINUTE).new_writes == []


def test_what_failed_before_the_process_began_is_reported_at_once():
    play = ModelReplay(1, waiting="ImagePullBackOff", **lost(NOON - timedelta(minutes=5)))
    assert play.new_writes == [f"{FAILED} x1"]


def test_a_model_that_comes_when_there_is_none_is_not_what_the_process_began_with():
    play = ModelReplay(0)
    play.make(0, waiting="ImagePullBackOff", **lost(NOON - timedelta(minutes=5)))
    assert play.run_pass().new_writes == []
    assert play.advance(MINUTE).new_writes == [f"{FAILED} x1"]


def test_scaled_to_zero_ends_the_episode_and_keeps_the_ready_owed():
    play = ModelReplay(1)
    play.fail(0).advance(MINUTE)
    assert play.new_writes == [f"{FAILED} x1"]

    def scale(replicas):
        made = a_set(replicas)
        meta = msgspec.structs.replace(made.metadata, name="m000")
        play.put(INFERENCE_SETS, msgspec.structs.replace(made, metadata=meta))

    scale(0)
    assert play.advance(10 * MINUTE).new_writes == []
    scale(1)
    play.pod(0)
    assert play.advance(2 * MINUTE).new_writes == ["inferencesetReady x1"]
