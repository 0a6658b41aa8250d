"""The exit codes of status and wait."""

from enum import IntEnum, unique

from reporter.model.rollup.states import State
from reporter.runtime.status.waiting import Outcome


@unique
class ExitCode(IntEnum):
    """
    MET: Current, or as wanted. NO_ANSWER: no answer was had. USAGE: the command line is refused.
    """

    MET = 0
    NO_ANSWER = 1
    USAGE = 2
    IN_PROGRESS = 3
    FAILED = 4
    UNKNOWN = 5
    GONE = 6


BY_STATE = {
    State.CURRENT: ExitCode.MET,
    State.IN_PROGRESS: ExitCode.IN_PROGRESS,
    State.FAILED: ExitCode.FAILED,
    State.UNKNOWN: ExitCode.UNKNOWN,
    State.TERMINATING: ExitCode.GONE,
    State.NOT_FOUND: ExitCode.GONE,
}
BY_OUTCOME = {
    Outcome.MET: ExitCode.MET,
    Outcome.NO_ANSWER: ExitCode.NO_ANSWER,
    Outcome.TIMED_OUT: ExitCode.IN_PROGRESS,
    Outcome.FAILED: ExitCode.FAILED,
    Outcome.ENDING: ExitCode.GONE,
}
