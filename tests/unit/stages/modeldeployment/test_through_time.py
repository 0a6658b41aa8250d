"""
Many models through time, by the catalogue that is shipped.
"""

from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from reporter.model.kinds import INFERENCE_SETS, NAMESPACES, PODS, WORKSPACES
from reporter.model.words import Layer
from reporter.stages.pipeline import Court
from reporter.stages.probes import PROBES
from tests.builders import MINUTE, NOON
from tests.model_builders import (
    TEAM,
    a_model_pod,
    a_model_store,
    a_set,
    a_team,
    a_workspace,
    lost,
)
from tests.play import Play
from tests.shipped import CATALOGUE, FLAGS


MANY = 200
FAILED = "inferencesetModelPodsNotReady"


class OfModels(Court):
    """
    Judges nothing else.
    """

    def roster(self, snapshot, before):
        found = super().roster(snapshot, before)
        models = (s for s in found.subjects if s.layer is Layer.MODELDEPLOYMENT)
        return replace(found, subjects=frozenset(models))


class Models(Play):
    """
    So many InferenceSets of one namespace that have neither routes nor pickers.
    """

    def __init__(self, many):
        self.many = many
        super().__init__(CATALOGUE)

    def __post_init__(self):
        self.court = OfModels(self.catalogue, PROBES, FLAGS, self.terms)
        self.store = a_model_store(a_team())
        for number in range(self.many):
            self.make(number)
        self.step()

    def step(self):
        self.subjects = self.store.take_dirty()
        return super().step()

    def make(self, number, **pod):
        name = f"m{number:03}"
        made = a_set()
        meta = msgspec.structs.replace(made.metadata, name=name)
        self.store.put(INFERENCE_SETS, msgspec.structs.replace(made, metadata=meta))
        self.store.put(WORKSPACES, a_workspace(f"{name}-a", of=name))
        self.store.put(PODS, a_model_pod(0, f"{name}-a", of=name, **pod))

    def pod(self, number, **changes):
        name = f"m{number:03}"
        return self.put(PODS, a_model_pod(0, f"{name}-a", of=name, **changes))

    def put(self, kind, made):
        self.store.put(kind, made)
        return self.step()

    def fail(self, number):
        loop = {"waiting": "ImagePullBackOff", "message": "not found"}
        return self.pod(number, **loop, **lost(self.now))


def test_two_hundred_that_fail_within_a_minute_give_one_event():
    play = Models(MANY)
    for number in range(MANY):
        play.fail(number).after(MINUTE / MANY)
    play.after(6 * MINUTE)
    assert {r.key for r in play.written} == {play.written[0].key}
    assert f"{MANY} InferenceSets (m000, m001, m002 and {MANY - 3} more): " in play.last
    assert f" InferenceSet {TEAM}/m000: model pod m000-a-0 is not ready" in play.last
    for number in range(MANY):
        play.pod(number)
    play.after(2 * MINUTE)
    assert [r.key.reason for r in play.written].count("inferencesetReady") == 1
    assert play.last.startswith(f"Namespace {TEAM}: {MANY} InferenceSets (m000, m001, m002 and")


@pytest.mark.parametrize("labelled", [False, True])
def test_a_namespace_is_judged_from_its_label_on(labelled):
    play = Models(1)
    bare = msgspec.structs.replace(a_team().metadata, labels={})
    play.put(NAMESPACES, msgspec.structs.replace(a_team(), metadata=bare))
    play.fail(0).after(5 * MINUTE)
    assert play.said == []
    if labelled:
        play.put(NAMESPACES, a_team())
    play.after(4 * MINUTE)
    assert play.said == ([f"{FAILED} x1"] if labelled else [])


def test_a_label_that_is_lost_ends_the_episode_without_a_word():
    play = Models(1)
    play.fail(0).after(MINUTE)
    assert play.said == [f"{FAILED} x1"]
    bare = msgspec.structs.replace(a_team().metadata, labels={})
    play.put(NAMESPACES, msgspec.structs.replace(a_team(), metadata=bare))
    assert play.after(20 * MINUTE).said == []


def test_a_restart_says_nothing_anew_and_holds_nothing_anew():
    play = Models(1)
    play.fail(0).after(MINUTE)
    assert play.said == [f"{FAILED} x1"]
    play.restart(back_after=20)
    assert play.after(3 * MINUTE).said == []


def test_what_failed_before_the_process_began_is_told_at_once():
    play = Models(0)
    play.make(0, waiting="ImagePullBackOff", **lost(NOON - timedelta(minutes=5)))
    assert play.step().said == [f"{FAILED} x1"]


def test_scaled_to_zero_ends_the_episode_and_keeps_the_ready_owed():
    play = Models(1)
    play.fail(0).after(MINUTE)
    assert play.said == [f"{FAILED} x1"]

    def scale(replicas):
        made = a_set(replicas)
        meta = msgspec.structs.replace(made.metadata, name="m000")
        play.put(INFERENCE_SETS, msgspec.structs.replace(made, metadata=meta))

    scale(0)
    assert play.after(10 * MINUTE).said == []
    scale(1)
    play.pod(0)
    assert play.after(2 * MINUTE).said == ["inferencesetReady x1"]
