"""
Waits for what a reporter shows a moment after it is done: a write is counted, and its finding
announced, once it is answered, which is after others can read it.
"""

from e2e.controlplane import until
from e2e.support.reporter_process import ReporterProcess


WITHIN = 60
"""The time limit, in seconds."""


def until_metric(
    reporter: ReporterProcess, wanted: float, name: str, *, within: float = WITHIN, **labels: str
) -> None:
    """Wait until the sum of all series with these labels is *wanted*."""

    def read() -> bool:
        try:
            return reporter.metric(name, **labels) == wanted
        except LookupError:
            return False

    until(read, within=within, what=f"{name} with {labels} is {wanted:g}")


def until_states(reporter: ReporterProcess, wanted: dict[str, str]) -> None:
    """Wait until these are the states of the cluster's reasons that are not clear."""
    until(lambda: reporter.states() == wanted, within=WITHIN, what=f"the states are {wanted}")


def until_all_said(reporter: ReporterProcess) -> None:
    """
    Wait until all reasons of the cluster are clear and no Ready Event is owed, which is written a
    moment after they are.
    """

    def read() -> bool:
        subjects = reporter.status()["subjects"]
        cluster = [each for each in subjects if each["layer"] == "cluster"]
        return bool(cluster) and not any(each["verdicts"] or each["readyOwed"] for each in cluster)

    until(read, within=WITHIN, what="all is clear and said")


def until_logged(reporter: ReporterProcess, *words: str, times: int = 1) -> None:
    """Wait until so many lines of the log, or more, contain all *words*."""
    until(
        lambda: len(reporter.lines(*words)) >= times,
        within=WITHIN,
        what=f"{times} lines with {words}",
    )


def until_was(reporter: ReporterProcess, reason: str, state: str) -> None:
    """Wait until a reason is in a state, or has been, however short that was."""
    until(
        lambda: reporter.lines(f"{reason}: {state}, was "),
        within=WITHIN,
        what=f"{reason} is or was {state}",
    )


def until_all_known(reporter: ReporterProcess) -> None:
    """
    Wait until it is ready and nothing is unknown: a request that failed once is named until the next
    try.
    """
    until(lambda: reporter.readiness() == "ok\n", within=WITHIN, what="it is ready, all is known")
