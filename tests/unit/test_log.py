"""
One line for each change of state, none for a pass.
"""

import logging
from dataclasses import replace
from datetime import timedelta

import pytest

from reporter.model.subjects import CLUSTER, Subject
from reporter.model.words import Kind, Layer
from reporter.sinks.log import CROWD, StateLog
from reporter.stages.judgement import Judgement
from tests.builders import a_catalogue, a_key, a_row, a_trouble, active, an_entry
from tests.play import Play


SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
KAITO, BBR, PODS = a_key("clusterKaito"), a_key("clusterBBR"), a_key("inferencesetPods", SET)
CATALOGUE = a_catalogue(
    an_entry("clusterBBR", 20),
    an_entry("clusterKaito", 30),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    rows=(a_row("clusterKaito", "inferencesetPods"),),
)
TOOK = timedelta(milliseconds=1)


class Logged:
    """
    A play of which the log is told after each of its steps.
    """

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.play = Play(CATALOGUE, subjects=frozenset({CLUSTER, SET}))
        self.leading = True
        self.log = StateLog(lambda: self.leading)
        self._caplog, self._before = caplog, Judgement()
        caplog.set_level(logging.DEBUG)

    @property
    def lines(self) -> list[str]:
        """
        What was logged of what happened since the last look.
        """
        self._caplog.clear()
        self.log.passed(self._before, self.play.judged, TOOK)
        self._before = self.play.judged
        return [record.getMessage() for record in self._caplog.records]

    @property
    def records(self) -> list[logging.LogRecord]:
        return self._caplog.records


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Logged:
    return Logged(caplog)


def test_each_state_is_told_once_with_what_it_was(logged):
    assert logged.lines == []
    logged.play.say(active(BBR, a_trouble(kind=Kind.LOST)))
    assert logged.lines == ["cluster clusterBBR: held, was clear: things system/thing Broken"]
    logged.play.after(10)
    assert logged.lines == []
    logged.play.after(21)
    assert logged.lines == ["cluster clusterBBR: announced, was held: things system/thing Broken"]
    logged.play.after(3600)
    assert logged.lines == []
    logged.play.clear(BBR)
    assert logged.lines == ["cluster clusterBBR: settling, was announced"]
    logged.play.after(40)
    assert logged.lines == ["cluster clusterBBR: clear, was settling"]
    assert logged.lines == []


def test_a_pass_that_changes_nothing_is_no_line(logged):
    logged.play.say(active(BBR))
    assert len(logged.lines) == 1
    for _ in range(100):
        logged.play.step()
        assert logged.lines == []


def test_what_must_be_heard_is_a_warning_and_the_rest_is_not(logged):
    logged.play.say(active(BBR))
    assert logged.lines
    assert [record.levelname for record in logged.records] == ["WARNING"]
    logged.play.clear(BBR)
    assert logged.lines
    assert [record.levelname for record in logged.records] == ["INFO"]


def test_a_suppressed_reason_names_what_it_follows_from(logged):
    logged.play.say(active(KAITO, a_trouble("kaito", out=True)), active(PODS))
    line = next(line for line in logged.lines if "inferencesetPods" in line)
    assert line.endswith(
        "suppressed, was clear: things system/thing Broken (suppressed by clusterKaito)"
    )


def test_unknown_is_told_with_why_once_it_has_lasted(logged):
    logged.play.unknown(BBR)
    logged.play.after(4)
    assert logged.lines == []
    logged.play.after(1)
    assert logged.lines == ["cluster clusterBBR: unknown, was clear: blind"]
    logged.play.step()
    assert logged.lines == []
    logged.play.clear(BBR)
    assert logged.lines == ["cluster clusterBBR: clear, was unknown"]


def test_a_status_that_lags_for_one_pass_is_no_news(logged):
    logged.play.say(active(BBR))
    assert len(logged.lines) == 1
    logged.play.unknown(BBR)
    assert logged.lines == []
    logged.play.say(active(BBR))
    assert logged.lines == []


def test_a_deleted_subject_is_clear(logged):
    logged.play.say(active(PODS))
    assert len(logged.lines) == 1
    logged.play.subjects = frozenset({CLUSTER})
    logged.play.step()
    assert logged.lines == ["modeldeployment/team-a/qwen inferencesetPods: clear, was announced"]


def test_the_fields_of_a_line_are_its_own(logged):
    logged.play.say(active(PODS))
    assert logged.lines
    (record,) = logged.records
    fields = ("reason", "layer", "namespace", "inferenceset", "state", "was")
    assert [str(getattr(record, name)) for name in fields] == [
        "inferencesetPods",
        "modeldeployment",
        "team-a",
        "qwen",
        "announced",
        "clear",
    ]


def test_one_that_does_not_lead_tells_what_is_due_and_its_lead_as_a_change(logged):
    logged.leading = False
    logged.play.say(active(BBR))
    assert logged.lines == ["cluster clusterBBR: due, was clear: things system/thing Broken"]
    (record,) = logged.records
    assert record.levelname == "INFO"
    logged.leading = True
    logged.play.step()
    assert logged.lines == ["cluster clusterBBR: announced, was due: things system/thing Broken"]


def test_a_note_for_the_operator_is_told_once(logged):
    noted = replace(active(BBR), notes=("set --bbr-namespace=kaito-system",))
    logged.play.say(noted)
    line = "clusterBBR: set --bbr-namespace=kaito-system"
    assert line in logged.lines
    logged.play.step()
    assert logged.lines == []
    logged.play.say(active(BBR))
    assert logged.lines == []
    logged.play.say(noted)
    assert logged.lines == [line]


def test_what_happens_to_many_subjects_at_once_is_one_line(caplog):
    sets = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"qwen-{n}") for n in range(9)]
    play = Play(CATALOGUE, subjects=frozenset({CLUSTER, *sets}))
    log = StateLog(lambda: True)
    play.unknown(*(a_key("inferencesetPods", each) for each in sets)).after(6)
    log.passed(Judgement(), play.judged, TOOK)
    play.clear(*(a_key("inferencesetPods", each) for each in sets)).say(
        active(a_key("inferencesetPods", sets[3]))
    )
    log.passed(Judgement(), play.judged, TOOK)
    one, other = [r.getMessage() for r in caplog.records if r.levelno > logging.INFO]
    where = "modeldeployment/team-a"
    assert one == f"{where}/qwen-0 inferencesetPods and 8 more: unknown, was clear: blind"
    assert other.startswith(f"{where}/qwen-3 inferencesetPods: announced, was unknown: things")


@pytest.mark.parametrize(("number", "lines"), [(CROWD, CROWD), (CROWD + 1, 1)])
def test_what_happens_to_a_crowd_is_one_line_whatever_the_causes(caplog, number, lines):
    sets = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"qwen-{n}") for n in range(number)]
    play = Play(CATALOGUE, subjects=frozenset({CLUSTER, *sets}))
    log = StateLog(lambda: True)
    keys = [a_key("inferencesetPods", each) for each in sets]
    play.say(*(active(key, a_trouble(key.subject.name)) for key in keys))
    log.passed(Judgement(), play.judged, TOOK)
    assert len(caplog.records) == lines
    assert ("and 50 more: announced" in caplog.records[0].getMessage()) is (lines == 1)
