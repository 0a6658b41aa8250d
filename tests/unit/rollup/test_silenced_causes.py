"""A silenced cause does not stand before one that nobody knows yet."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from reporter.model.enums import Layer
from reporter.model.silences import Silence, SilenceState
from reporter.model.states import Actionability, SinceFrom, State
from reporter.rollup.records import Blocker, InferenceSetRecord, SubjectState
from reporter.rollup.rules import RollUpRules
from reporter.rollup.totals import first_blocker, group_blockers, rank_causes
from tests.support.builders import HOUR, NOON, a_key
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.rollups import line_of, stack_after, status_document, view_of


RULES = RollUpRules(DEFAULT_CATALOGUE, {})
SILENCE = Silence("silences.yaml:1", "team-m", "qwen", SilenceState.ACTIVE, until=NOON + HOUR)
PODS = Blocker(
    key=a_key("inferencesetModelPodsNotReady"),
    code="ImagePull",
    layer=Layer.MODELDEPLOYMENT,
    since=NOON,
    since_from=SinceFrom.PROCESS,
    window=timedelta(),
    actionability=Actionability.USER,
)
ROUTE = replace(PODS, key=a_key("inferencesetRouteNotReady"), code="Refused")
SILENCED = replace(PODS, silence=SILENCE)


def blocked_by(**blockers: Blocker):
    current = SubjectState(state=State.CURRENT, since=NOON)
    failed = replace(current, state=State.FAILED)
    sets = {
        name: InferenceSetRecord(subject_state=replace(failed, blocker=each))
        for name, each in blockers.items()
    }
    return group_blockers(current, sets, RULES)


@pytest.mark.parametrize(("silenced", "other"), [("qwen", "zeta"), ("zeta", "qwen")])
def test_of_models_with_one_cause_the_one_that_is_not_silenced_is_named(silenced, other):
    groups = blocked_by(**{silenced: SILENCED, other: PODS})
    assert first_blocker(groups) is PODS
    assert [each.subjects for each in rank_causes(groups)] == [2]


def test_a_cause_of_lower_rank_that_is_not_silenced_comes_first():
    groups = blocked_by(qwen=SILENCED, zeta=ROUTE)
    assert RULES.rank(PODS.key) < RULES.rank(ROUTE.key)
    assert first_blocker(groups) is ROUTE
    assert first_blocker(blocked_by(qwen=SILENCED)) is SILENCED


def test_of_the_reasons_of_one_subject_the_one_that_is_not_silenced_blocks():
    bbr = {"Deployment kaito-system/body-based-router": {"replicas": 0}}
    keda = {"Deployment keda/keda-operator": {"replicas": 0}}
    silences = [{"reasons": ["clusterBBRNotReady"], "until": "2026-05-01T15:00:00Z"}]
    both = stack_after({**bbr, **keda}, silences=silences, until="10m")
    assert "clusterKedaNotReady" in line_of(both, "cluster")
    assert status_document(view_of(both))["cluster"]["blocking"].get("silenced") is None
    alone = stack_after(bbr, silences=silences, until="10m")
    assert "clusterBBRNotReady" in line_of(alone, "cluster")
    assert status_document(view_of(alone))["cluster"]["blocking"]["silenced"]["until"]
