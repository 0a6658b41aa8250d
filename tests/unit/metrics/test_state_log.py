"""One log line for each change of state, none for a pass."""

import logging

import pytest
from msgspec.structs import replace

from reporter.evaluation.finished_pass import StateTracker
from reporter.metrics.state_log import SUMMARIZE_CHANGE_ABOVE, StateLog
from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.finished_passes import finished_pass
from tests.support.replay import Replay


SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
KAITO, BBR, PODS = a_key("clusterKaito"), a_key("clusterBBR"), a_key("inferencesetPods", SET)
CATALOGUE = a_catalogue(
    an_entry("clusterBBR", 20),
    an_entry("clusterKaito", 30),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    rows=(a_suppression("clusterKaito", "inferencesetPods"),),
)


class LogCapture:
    """A replay, and the lines that the state log writes about it."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.replay = Replay(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, SET}))
        self.leading = True
        self.log, self._tracker = StateLog(), StateTracker()
        self._caplog = caplog
        caplog.set_level(logging.DEBUG)

    @property
    def lines(self) -> list[str]:
        """Return the lines logged for what happened since the last call."""
        self._caplog.clear()
        evaluation, tracker = self.replay.evaluation, self._tracker
        self.log.follow(finished_pass(evaluation, tracker, leading=self.leading))
        return [record.getMessage() for record in self._caplog.records]

    @property
    def records(self) -> list[logging.LogRecord]:
        return self._caplog.records


@pytest.fixture
def log_capture(caplog: pytest.LogCaptureFixture) -> LogCapture:
    return LogCapture(caplog)


def test_each_state_is_logged_once_with_the_one_before(log_capture):
    assert log_capture.lines == []
    log_capture.replay.set_verdicts(an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST)))
    assert log_capture.lines == ["cluster clusterBBR: held, was clear: things system/thing Broken"]
    log_capture.replay.advance(10)
    assert log_capture.lines == []
    log_capture.replay.advance(21)
    assert log_capture.lines == [
        "cluster clusterBBR: announced, was held: things system/thing Broken"
    ]
    log_capture.replay.advance(3600)
    assert log_capture.lines == []
    log_capture.replay.set_clear(BBR)
    assert log_capture.lines == ["cluster clusterBBR: settling, was announced"]
    log_capture.replay.advance(40)
    assert log_capture.lines == ["cluster clusterBBR: clear, was settling"]
    assert log_capture.lines == []


def test_a_pass_that_changes_nothing_is_no_line(log_capture):
    log_capture.replay.set_verdicts(an_active_verdict(BBR))
    assert len(log_capture.lines) == 1
    for _ in range(100):
        log_capture.replay.run_pass()
        assert log_capture.lines == []


def test_an_announced_finding_is_a_warning_and_the_rest_is_not(log_capture):
    log_capture.replay.set_verdicts(an_active_verdict(BBR))
    assert log_capture.lines
    assert [record.levelname for record in log_capture.records] == ["WARNING"]
    log_capture.replay.set_clear(BBR)
    assert log_capture.lines
    assert [record.levelname for record in log_capture.records] == ["INFO"]


def test_a_suppressed_reason_names_its_source(log_capture):
    log_capture.replay.set_verdicts(
        an_active_verdict(KAITO, a_trouble("kaito", is_out=True)), an_active_verdict(PODS)
    )
    line = next(line for line in log_capture.lines if "inferencesetPods" in line)
    assert line.endswith(
        "suppressed, was clear: things system/thing Broken (suppressed by clusterKaito)"
    )


def test_unknown_is_logged_with_its_cause_once_it_has_lasted(log_capture):
    log_capture.replay.set_unknown(BBR)
    log_capture.replay.advance(4)
    assert log_capture.lines == []
    log_capture.replay.advance(1)
    assert log_capture.lines == ["cluster clusterBBR: unknown, was clear: forbidden"]
    log_capture.replay.run_pass()
    assert log_capture.lines == []
    log_capture.replay.set_clear(BBR)
    assert log_capture.lines == ["cluster clusterBBR: clear, was unknown"]


def test_unknown_for_one_pass_is_not_logged(log_capture):
    log_capture.replay.set_verdicts(an_active_verdict(BBR))
    assert len(log_capture.lines) == 1
    log_capture.replay.set_unknown(BBR)
    assert log_capture.lines == []
    log_capture.replay.set_verdicts(an_active_verdict(BBR))
    assert log_capture.lines == []


def test_a_deleted_subject_is_clear(log_capture):
    log_capture.replay.set_verdicts(an_active_verdict(PODS))
    assert len(log_capture.lines) == 1
    log_capture.replay.subjects = frozenset({CLUSTER_SUBJECT})
    log_capture.replay.run_pass()
    assert log_capture.lines == [
        "modeldeployment/team-a/qwen inferencesetPods: clear, was announced"
    ]


def test_a_line_has_the_fields_of_its_key(log_capture):
    log_capture.replay.set_verdicts(an_active_verdict(PODS))
    assert log_capture.lines
    (record,) = log_capture.records
    fields = ("reason", "layer", "namespace", "inferenceset", "state", "was")
    assert [str(getattr(record, name)) for name in fields] == [
        "inferencesetPods",
        "modeldeployment",
        "team-a",
        "qwen",
        "announced",
        "clear",
    ]


def test_a_follower_logs_due_and_becoming_leader_is_a_change(log_capture):
    log_capture.leading = False
    log_capture.replay.set_verdicts(an_active_verdict(BBR))
    assert log_capture.lines == ["cluster clusterBBR: due, was clear: things system/thing Broken"]
    (record,) = log_capture.records
    assert record.levelname == "INFO"
    log_capture.leading = True
    log_capture.replay.run_pass()
    assert log_capture.lines == [
        "cluster clusterBBR: announced, was due: things system/thing Broken"
    ]


def test_a_note_for_the_operator_is_logged_once(log_capture):
    noted = replace(an_active_verdict(BBR), notes=("set --bbr-namespace=kaito-system",))
    log_capture.replay.set_verdicts(noted)
    line = "clusterBBR: set --bbr-namespace=kaito-system"
    assert line in log_capture.lines
    log_capture.replay.run_pass()
    assert log_capture.lines == []
    log_capture.replay.set_verdicts(an_active_verdict(BBR))
    assert log_capture.lines == []
    log_capture.replay.set_verdicts(noted)
    assert log_capture.lines == [line]


def test_the_same_change_of_many_subjects_is_one_line(caplog):
    sets = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"qwen-{n}") for n in range(9)]
    replay = Replay(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, *sets}))
    log, tracker = StateLog(), StateTracker()
    replay.set_unknown(*(a_key("inferencesetPods", each) for each in sets)).advance(6)
    log.follow(finished_pass(replay.evaluation, tracker))
    replay.set_clear(*(a_key("inferencesetPods", each) for each in sets)).set_verdicts(
        an_active_verdict(a_key("inferencesetPods", sets[3]))
    )
    log.follow(finished_pass(replay.evaluation, tracker))
    one, other = [r.getMessage() for r in caplog.records if r.levelno > logging.INFO]
    where = "modeldeployment/team-a"
    assert one == f"{where}/qwen-0 inferencesetPods and 8 more: unknown, was clear: forbidden"
    assert other.startswith(f"{where}/qwen-3 inferencesetPods: announced, was unknown: things")


@pytest.mark.parametrize(
    ("number", "lines"),
    [(SUMMARIZE_CHANGE_ABOVE, SUMMARIZE_CHANGE_ABOVE), (SUMMARIZE_CHANGE_ABOVE + 1, 1)],
)
def test_the_same_change_of_very_many_subjects_is_one_line_whatever_the_causes(
    caplog, number, lines
):
    sets = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"qwen-{n}") for n in range(number)]
    replay = Replay(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, *sets}))
    log, tracker = StateLog(), StateTracker()
    keys = [a_key("inferencesetPods", each) for each in sets]
    replay.set_verdicts(*(an_active_verdict(key, a_trouble(key.subject.name)) for key in keys))
    log.follow(finished_pass(replay.evaluation, tracker))
    assert len(caplog.records) == lines
    assert ("and 50 more: announced" in caplog.records[0].getMessage()) is (lines == 1)
