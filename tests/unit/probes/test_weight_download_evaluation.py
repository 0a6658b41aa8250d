"""The states of a slow download after whole passes."""

from reporter.evaluation.clocks import Delays
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from tests.support.builders import MINUTE, NOON, SECOND
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.loading_pods import (
    MODEL,
    REASON,
    TEAM,
    a_loading_pod,
    a_loading_store,
    a_model,
    add_samples,
)
from tests.support.reason_states import reason_states


SUBJECT = Subject(Layer.MODELDEPLOYMENT, TEAM, MODEL)
POD = a_loading_pod()


def after(store, before=None, now=NOON + MINUTE) -> Evaluation:
    evaluator = Evaluator(
        DEFAULT_CATALOGUE, PROBES, DEFAULT_FLAGS, EvaluationSettings(delays=Delays())
    )
    return evaluator.evaluate(
        before or Evaluation(), store.snapshot(), frozenset({SUBJECT}), now=now
    )


def state(evaluation: Evaluation) -> str:
    found = {
        key.reason: each
        for key, each in reason_states(evaluation).items()
        if key.subject == SUBJECT
    }
    return str(found.get(REASON, "clear"))


def test_a_slow_download_is_announced_as_soon_as_the_window_is_full_whatever_else_is_wrong():
    store = a_loading_store(POD)
    add_samples(store, POD, 3, 3, 3, 3)
    first = after(store)
    add_samples(store, POD, 3, begin=60)
    second = after(store, first, now=NOON + 61 * SECOND)
    assert [state(first), state(second)] == ["unknown", "announced"]


def test_a_model_that_is_scaled_to_zero_is_not_evaluated():
    store = a_loading_store(POD, a_model(replicas=0))
    add_samples(store, POD, 3.1, 3.2, 3.3, 3.4, 3.5)
    assert state(after(store)) == "clear"
