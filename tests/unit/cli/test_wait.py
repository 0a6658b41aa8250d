"""The line of a wait for people: a change is printed once it changes this line."""

from datetime import timedelta

import pytest
from msgspec.structs import fields, replace

from reporter.cli.wait import ChangedLines
from reporter.model.enums import Layer
from reporter.model.states import Actionability, State
from reporter.model.status_document import (
    AvailableCounts,
    Blocking,
    NotAvailable,
    Replicas,
    Suppressed,
)
from reporter.status.source import Target
from reporter.status.summary import Summary
from reporter.status.waiting import StatusWait, WaitCondition
from tests.support.builders import NOON


WAIT = StatusWait(Target("team-a", "qwen"), WaitCondition.AVAILABLE, timedelta(minutes=1))
BEFORE = Summary(State.IN_PROGRESS, State.IN_PROGRESS, available=False)
OTHER = Summary(
    State.FAILED,
    State.FAILED,
    available=True,
    not_available=NotAvailable(
        code="X", layer=Layer.CLUSTER, actionability=Actionability.PLATFORM
    ),
    counts=AvailableCounts(available=1),
    answered_seconds=30,
    replicas=Replicas(desired=1, ready=1),
    blocking=Blocking(code="X", layer=Layer.CLUSTER, actionability=Actionability.USER),
    evaluated_at=NOON,
    suppressed=(Suppressed(reason="r", code="X", by=("s",)),),
)
UNSHOWN = {
    "worst": "that of a whole namespace; a wait is about the subject",
    "answered_seconds": "an age, which would print a line with each answer",
    "evaluated_at": "a time, likewise",
    "suppressed": "only follows from what blocks the subject",
}


@pytest.mark.parametrize("name", [each.name for each in fields(Summary)])
def test_each_fact_of_a_summary_is_shown_or_left_out_on_purpose(name: str):
    assert getattr(OTHER, name) != getattr(BEFORE, name), "give it another value in OTHER"
    after = replace(BEFORE, **{name: getattr(OTHER, name)})
    printed: list[str] = []
    lines = ChangedLines(WAIT, printed.append)
    for summary in (BEFORE, after, after):
        lines.show(summary)
    assert len(printed) == (1 if name in UNSHOWN else 2)
