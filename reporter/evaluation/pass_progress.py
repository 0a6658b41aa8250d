"""The state of a pass between two of its batches."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from reporter.evaluation.clocks import Gate
from reporter.evaluation.remembered import NOTHING_REMEMBERED, Remembered
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import Verdict


class Batch(NamedTuple):
    """A few subjects and the verdicts of their probes."""

    subjects: Sequence[Subject]
    verdicts: Sequence[Verdict]


class PassProgress(Struct, frozen=True):
    """
    The state after some batches of a pass.

    *evaluated_reasons* are handed to the gate only at the end: until then every subject is in the
    first evaluation of a reason, whose clocks start at transition times. *evaluated* counts the
    subjects of the plan. *continued*: the remembered findings that these batches have continued.
    """

    gate: Gate
    evaluated_reasons: frozenset[Reason]
    paused: frozenset[Subject]
    notes: Mapping[FindingKey, tuple[str, ...]]
    evaluated: int = 0
    remembered: Remembered = NOTHING_REMEMBERED
    continued: Remembered = NOTHING_REMEMBERED
