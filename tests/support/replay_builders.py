"""
Builders of replays with a small catalogue: three cluster reasons, two model reasons, two suppressions.
"""

from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay


ISTIO, BBR, KAITO = a_key("clusterIstio"), a_key("clusterBBR"), a_key("clusterKaito")
ENTRIES = (
    an_entry("clusterIstio", 10),
    an_entry("clusterBBR", 20),
    an_entry("clusterKaito", 30),
)
SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
PODS, ROUTE = a_key("inferencesetPods", SET), a_key("inferencesetRoute", SET)
MODELS = (
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    an_entry("inferencesetRoute", 20, layer=Layer.MODELDEPLOYMENT),
)
ROWS = (
    a_suppression("clusterKaito", "inferencesetPods"),
    a_suppression("clusterIstio", "inferencesetRoute"),
)


def cluster_replay(**changes) -> Replay:
    """Return a replay of the cluster reasons only."""
    return Replay(a_catalogue(*ENTRIES), **changes)


def stack_replay(**changes) -> Replay:
    """Return a replay of the cluster and one InferenceSet, with suppressions between them."""
    catalogue = a_catalogue(*ENTRIES, *MODELS, rows=ROWS)
    return Replay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, SET}), **changes)


def team_replay(*subjects, **changes) -> Replay:
    """Return a replay of the cluster and these InferenceSets, whose pods depend on KAITO."""
    return Replay(
        a_catalogue(*MODELS, an_entry("clusterKaito", 10), rows=ROWS[:1]),
        subjects=frozenset({CLUSTER_SUBJECT, *subjects}),
        **changes,
    )


def out(key, name="thing", **changes):
    return an_active_verdict(key, a_trouble(name, is_out=True, **changes))


def sets(number, namespace="team-a"):
    return [Subject(Layer.MODELDEPLOYMENT, namespace, f"model-{i:02}") for i in range(number)]


def keys(subjects, reason=PODS.reason):
    return [a_key(reason, subject) for subject in subjects]


def all_of(subjects, reason=PODS.reason, **changes):
    return [an_active_verdict(key, a_trouble(**changes)) for key in keys(subjects, reason)]
