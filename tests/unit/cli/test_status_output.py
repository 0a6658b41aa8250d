"""The formats for programs, notes about what was not evaluated, and the pauses of a watch."""

import json
from datetime import timedelta

import pytest
import yaml

from reporter import PROGRAM_NAME
from reporter.cli.command import Command, find_command
from reporter.cli.command_names import ASKING_COMMANDS
from reporter.cli.explain import EXPLAIN
from reporter.cli.output import BY_STATE, Terminal, to_json, to_yaml
from reporter.cli.status import CHECK, STATUS
from reporter.cli.status_output import Question, describe_gaps, show_answers
from reporter.cli.wait import BY_OUTCOME, WAIT
from reporter.model.enums import Layer
from reporter.model.states import Mode, State
from reporter.model.status_document import (
    ClusterStatus,
    InferenceSetStatus,
    NamespaceStatus,
    NotJudged,
    StatusDocument,
    UnlistedLayer,
)
from reporter.status.source import EVERYTHING, StatusAnswer, StatusQueryFailed, Target
from reporter.status.waiting import Outcome
from tests.support.virtual_clock import START_SECONDS, VirtualClock, VirtualEventLoop


HOSTILE = {"message": "a\x1b[2J\x9b1m\u202e\u2028 é ↳", "list": [1, None, True]}


def test_json_is_read_back_the_same_and_cannot_drive_the_terminal():
    text = to_json(HOSTILE)
    assert json.loads(text) == HOSTILE
    assert all(each.isprintable() or each == "\n" for each in text)
    assert "é ↳" in text


def test_yaml_is_read_back_the_same_and_cannot_drive_the_terminal():
    text = to_yaml(HOSTILE)
    assert yaml.safe_load(text) == HOSTILE
    assert all(each.isprintable() or each == "\n" for each in text)


def test_reasons_that_were_not_evaluated_are_named_once_per_cause():
    first, second = (NotJudged(reason=each, why="it has no pages") for each in ("a", "b"))
    document = StatusDocument(schema="v1", mode=Mode.WATCHING, not_judged=(first, second))
    assert list(describe_gaps(document)) == [
        "2 reasons are not judged: it has no pages; -o json names them"
    ]
    alone = StatusDocument(schema="v1", mode=Mode.WATCHING, not_judged=(first,))
    assert list(describe_gaps(alone)) == [
        "1 reason is not judged: it has no pages; -o json names them"
    ]


def test_how_old_a_page_through_the_api_server_may_be_is_a_note():
    document = StatusDocument(schema="v1", mode=Mode.WATCHING, page_max_age_seconds=2000)
    assert list(describe_gaps(document)) == [
        "metrics pages that are read through the API server may be 33m old"
    ]


def test_inference_sets_without_a_metrics_page_are_counted():
    sets = tuple(
        InferenceSetStatus(
            name=each, state=State.CURRENT, not_judged=("inferencesetEngineStalled",)
        )
        for each in ("a", "b")
    )
    team = NamespaceStatus(name="team-a", state=State.CURRENT, inference_sets=sets)
    document = StatusDocument(schema="v1", mode=Mode.WATCHING, namespaces=(team,))
    assert list(describe_gaps(document)) == [
        "not judged of 2 InferenceSets without a metrics page: inferencesetEngineStalled"
    ]


def test_subjects_that_cannot_be_listed_are_not_passed_over():
    unlisted = UnlistedLayer(layer=Layer.MODELDEPLOYMENT, why="may not list them")
    cluster = ClusterStatus(state=State.CURRENT, unlisted_layers=(unlisted,))
    assert list(
        describe_gaps(StatusDocument(schema="v1", mode=Mode.WATCHING, cluster=cluster))
    ) == ["there may be more of the layer modeldeployment than is shown: may not list them"]


def test_each_state_and_each_end_of_a_wait_has_an_exit_code():
    assert {state: int(code) for state, code in BY_STATE.items()} == {
        State.CURRENT: 0,
        State.IN_PROGRESS: 3,
        State.FAILED: 4,
        State.UNKNOWN: 5,
        State.TERMINATING: 6,
        State.NOT_FOUND: 6,
    }
    assert BY_OUTCOME.keys() == set(Outcome)


LONG = "a note about many things that were not read: " + ", ".join(["gateways"] * 20)


def shown(capsys: pytest.CaptureFixture[str], *argv: str, command: Command = STATUS) -> list[str]:
    """Return the lines that a terminal writes to standard error for three notes, of which two are alike."""
    terminal = Terminal({}, command.parse(argv))
    for note in ("short", LONG, "short"):
        terminal.note(note)
    found = capsys.readouterr()
    assert found.out == ""
    return found.err.splitlines()


def test_a_note_is_one_line_of_at_most_100_characters(capsys: pytest.CaptureFixture[str]):
    first, second = shown(capsys)
    assert first == "note: short"
    assert second.startswith("note: a note about many things")
    assert (len(second), second[-1]) == (100, "…")


def test_wide_shows_notes_whole_and_quiet_leaves_them_out(capsys: pytest.CaptureFixture[str]):
    assert shown(capsys, "-o", "wide")[1] == f"note: {LONG}"
    assert shown(capsys, "-q") == []
    assert shown(capsys, "--quiet", "-o", "wide") == []


@pytest.mark.parametrize("command", [CHECK, WAIT, EXPLAIN])
def test_a_command_without_a_wide_form_shows_notes_whole(
    command: Command, capsys: pytest.CaptureFixture[str]
):
    assert shown(capsys, command=command)[1] == f"note: {LONG}"


def test_an_error_is_shown_whole_and_also_with_quiet(capsys: pytest.CaptureFixture[str]):
    Terminal({}, STATUS.parse(["-q"])).error(LONG)
    assert capsys.readouterr().err == f"{PROGRAM_NAME}: {LONG}\n"


@pytest.mark.parametrize("name", sorted(ASKING_COMMANDS))
def test_each_command_that_asks_can_be_quiet(name: str):
    assert "quiet" in {flag.name for flag in find_command(name).flags}


# ------------------------------------------------------------ the pauses of a watch, in virtual time


class BusySource:
    """Answers once, then is busy once with this Retry-After, and then ends. *asked_at*: in seconds."""

    description, may_lag = "a script", False

    def __init__(self, clock: VirtualClock, retry_after: timedelta | None) -> None:
        self._clock = clock
        self._errors = [
            StatusQueryFailed("it is busy", may_pass=True, retry_after=retry_after),
            StatusQueryFailed("it is no reporter any more"),
        ]
        self.asked_at: list[float] = []

    async def open(self) -> "BusySource":
        return self

    async def ask(self, _: Target, *, after: StatusAnswer | None = None) -> StatusAnswer:
        self.asked_at.append(self._clock.now - START_SECONDS)
        if after is None:
            return StatusAnswer(None, missing="no workload namespace team-a")
        raise self._errors.pop(0)

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    ("retry_after", "pause"),
    [(None, 1), (timedelta(seconds=5), 5), (timedelta(seconds=10**6), 60)],
)
def test_a_watch_pauses_as_it_is_asked_to_and_a_minute_at_most(
    retry_after: timedelta | None, pause: float
):
    clock = VirtualClock()
    event_loop, source = VirtualEventLoop(clock), BusySource(clock, retry_after)
    question = Question(source.open, EVERYTHING, lambda _: None, lambda _: State.CURRENT)
    arguments = STATUS.parse(["--watch"])
    task = event_loop.loop.create_task(show_answers(question, arguments, Terminal({}, arguments)))
    try:
        event_loop.run_until_idle()
        while not task.done():
            clock.now = event_loop.next_timer
            event_loop.run_until_idle()
    finally:
        event_loop.close()
    assert source.asked_at == [0, 1, 1 + pause]
    with pytest.raises(StatusQueryFailed, match="no reporter any more"):
        task.result()
