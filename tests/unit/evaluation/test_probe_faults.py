"""A probe that raises an exception costs its reason about one subject, and nothing else."""

from dataclasses import dataclass, field
from typing import Self

import pytest
from msgspec.structs import replace

from reporter.evaluation.clocks import NOTHING_TRACKED
from reporter.evaluation.probe_run import prepare_probe_run
from reporter.evaluation.registry import PROBES
from reporter.kinds.core import PODS, Pod
from reporter.model.enums import Layer
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import Clear, Unknown, Verdict
from reporter.probes.probe import Probe, ProbeRequest
from tests.support.builders import NOON, a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.catalogue_fixture import DEFAULT_FLAGS
from tests.support.model_builders import TEAM, a_model_store, a_team
from tests.support.replay import Replay


GATEWAY, BBR = a_key("clusterGateway"), a_key("clusterBBR")
ITEM = a_key("clusterGateway", item="public")
CATALOGUE = a_catalogue(an_entry("clusterGateway", 1), an_entry("clusterBBR", 2))
HELD_BY_OBJECT = "what an object holds"


@dataclass
class FaultyReplay(Replay):
    """The probes of the reasons in *faulty* raise. *faults*: those that the process was handed."""

    faulty: set[str] = field(default_factory=set)
    faults: list[tuple[FindingKey, Exception]] = field(default_factory=list)

    def _run_probe(self, _, request) -> list[Verdict]:
        if request.reason in self.faulty:
            raise KeyError(HELD_BY_OBJECT)
        return super()._run_probe(_, request)

    def go_on(self) -> Self:
        self.evaluator = replace(self.evaluator, on_fault=self._keep)
        return self

    def _keep(self, request: ProbeRequest, err: Exception) -> None:
        self.faults.append((request.key(), err))


def test_what_other_probes_find_is_announced():
    replay = FaultyReplay(CATALOGUE).go_on()
    replay.faulty.add(GATEWAY.reason)
    replay.set_verdicts(an_active_verdict(BBR))
    assert [key for key, _ in replay.faults] == [GATEWAY]
    assert replay.new_writes == ["clusterBBR x1"]
    why = replay.evaluation.tracked.unknown_states[GATEWAY].why
    assert "its probe failed with KeyError at test_probe_faults.py:" in why
    assert HELD_BY_OBJECT not in why


def test_what_was_found_before_stays_and_ends_only_once_the_probe_answers():
    replay = FaultyReplay(CATALOGUE).go_on().set_verdicts(an_active_verdict(ITEM))
    assert replay.new_writes == ["clusterGateway x1"]
    replay.faulty.add(GATEWAY.reason)
    replay.set_clear(ITEM).advance(60)
    assert replay.state(ITEM) == "unknown"
    assert "clusterReady x1" not in replay.new_writes
    replay.faulty.clear()
    replay.run_pass().advance(60)
    assert replay.state(ITEM) == "clear"
    assert "clusterReady x1" in replay.new_writes


def test_a_story_ends_with_the_fault():
    replay = FaultyReplay(CATALOGUE)
    replay.faulty.add(GATEWAY.reason)
    with pytest.raises(KeyError, match=HELD_BY_OBJECT):
        replay.run_pass()


def test_a_gap_that_a_failed_probe_met_is_not_that_of_the_next_subject():
    failing, next_ = (Subject(Layer.MODELDEPLOYMENT, TEAM, name) for name in ("qwen", "llama"))
    store = a_model_store(a_team())
    store.mark_undecodable(PODS, TEAM, "qwen-0")

    def evaluate(snapshot, request):
        if request.subject == failing:
            snapshot.get(PODS, Pod, TEAM, "qwen-0")
            raise KeyError(HELD_BY_OBJECT)
        return [Clear(request.key())]

    entry = an_entry("inferencesetPods", layer=Layer.MODELDEPLOYMENT)
    probes = {"none": Probe(PROBES["model-pods"].spec, evaluate)}
    run = prepare_probe_run(
        store.snapshot(),
        NOTHING_TRACKED,
        a_catalogue(entry),
        probes,
        flags=DEFAULT_FLAGS,
        now=NOON,
    )
    verdicts = replace(run, on_fault=_ignore).run([failing, next_])
    assert [type(each) for each in verdicts] == [Unknown, Clear]


def _ignore(request: ProbeRequest, err: Exception) -> None:
    pass
