"""Properties that all probes of engines have in common: the check, and a healthy set."""

import pytest

from reporter.catalogue.entries import Catalogue
from reporter.evaluation.clocks import NOTHING_TRACKED
from reporter.evaluation.probe_run import prepare_probe_run
from reporter.evaluation.registry import PROBES
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.model.enums import Reason
from reporter.model.verdicts import Clear, Unknown
from reporter.probes.engine_probe import WELL, EngineParameters, EngineProbe, request_gauges
from reporter.resources.inference_sets import find_model_pods
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.engines import HISTORY, a_page, scrape_of, store_of_pages
from tests.support.model_builders import SUBJECT, a_model_pod


STALLED_REASON = Reason("inferencesetEngineStalled")
IDLE = a_page(running=0, waiting=0, steps=9)


DECLARED = EngineProbe(
    name="some-engines",
    parameters_type=EngineParameters,
    codes=("Some",),
    reads=request_gauges,
    rule=lambda *_: None,
    describe=lambda code, _: code,
)


def test_a_check_is_made_once_for_all_subjects():
    check = DECLARED.check_of(EngineParameters(), DEFAULT_FLAGS)
    assert DECLARED.check_of(EngineParameters(), dict(DEFAULT_FLAGS)) is check


@pytest.mark.parametrize("flag", ["scrape-interval-seconds", "weight-download-metric-port"])
def test_another_value_of_a_flag_makes_another_scrape(flag):
    scrape = DECLARED.build_scrape(EngineParameters(), DEFAULT_FLAGS)
    other = DECLARED.build_scrape(EngineParameters(), {**DEFAULT_FLAGS, flag: "77"})
    assert (other.keep, other.port, other.history) != (scrape.keep, scrape.port, scrape.history)


def test_another_probe_with_the_same_parameters_has_a_check_of_its_own():
    other = EngineProbe(
        name="other-engines",
        parameters_type=EngineParameters,
        codes=("Other",),
        reads=request_gauges,
        rule=lambda *_: None,
        describe=lambda code, _: code,
    )
    check = other.check_of(EngineParameters(), DEFAULT_FLAGS)
    assert check.rule is other.rule


@pytest.mark.parametrize(
    ("pages", "is_well"),
    [
        ([(0, IDLE), (15, IDLE)], True),
        ([(0, IDLE), (15, "connection refused")], False),
        ([(0, IDLE), (15, ())], False),
        ([(0, a_page(running=1, waiting=2, steps=9)), (15, a_page(running=1, waiting=2))], False),
    ],
)
def test_what_a_page_means_is_kept_beside_its_history(pages, is_well):
    snapshot = store_of_pages(STALLED_REASON, {"qwen-7rk2p-0": pages}).snapshot()
    (pod,) = find_model_pods(snapshot, SUBJECT)
    (fingerprint,) = scrape_of(STALLED_REASON).fingerprints
    assert (snapshot.scrape_fingerprint(pod, HISTORY, fingerprint) == WELL) is is_well
    restarted = a_model_pod(0, "qwen-7rk2p", uid="another")
    assert snapshot.scrape_fingerprint(restarted, HISTORY, fingerprint) is None


def test_a_set_that_cannot_be_decoded_is_unknown_although_its_engines_are_well():
    store = store_of_pages(STALLED_REASON, {"qwen-7rk2p-0": [(0, IDLE), (15, IDLE)]})
    entry = DEFAULT_CATALOGUE[STALLED_REASON]

    def verdict():
        run = prepare_probe_run(
            store.snapshot(),
            NOTHING_TRACKED,
            Catalogue({STALLED_REASON: entry}),
            PROBES,
            flags=DEFAULT_FLAGS,
            now=NOON,
        )
        (found,) = run.run([SUBJECT])
        return found

    assert isinstance(verdict(), Clear)
    store.mark_undecodable(INFERENCE_SETS, SUBJECT.namespace, SUBJECT.name)
    assert isinstance(verdict(), Unknown)
