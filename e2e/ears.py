"""
What a reporter under test has seen of a namespace, and what it has said.
"""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from e2e import events
from e2e.controlplane import ControlPlane, NotWithin, until
from e2e.events import Event
from e2e.patience import SETTLE
from e2e.reporter_process import ReporterProcess
from reporter.model.entries import Entry
from reporter.model.words import Kind
from tests.shipped import CATALOGUE


HOLD = 2
"""
Seconds for which hard errors, losses and what is declared are held; what starts has all its time.
"""

LONG = timedelta(minutes=3)
"""
At least, also where what starts has no more than the grace.
"""

WINDOWED = "inferencesetWeightDownloadSlow"
LONGER = HOLD + 2
"""
Seconds after which what was taken for one of these has been said.
"""


def impatient(plane: ControlPlane, *, off: str = "") -> tuple[str, ...]:
    """
    Flags: of every reason, what does not start counts soon. *off*: a reason that is not judged.
    """
    judged = [entry for entry in CATALOGUE.entries.values() if entry.judged]
    reasons: dict[str, Any] = {
        each.reason: {"hold": _holds(each)} for each in judged if each.reason != WINDOWED
    }
    if off:
        reasons[off] = {"enabled": False}
    path = plane.folder / "impatient-with-all.yaml"
    path.write_text(json.dumps({"reasons": reasons}))
    return (f"--catalogue-overlay={path}", f"--settle-seconds={SETTLE}")


def _holds(entry: Entry) -> dict[str, str]:
    soon = timedelta(seconds=HOLD)
    found = {kind: min(entry.holds.of(kind, grace=soon), soon) for kind in Kind}
    found[Kind.STARTING] = entry.holds.of(Kind.STARTING, grace=LONG)
    return {str(kind): f"{hold.seconds}s" for kind, hold in found.items()}


@dataclass(frozen=True)
class Ears:
    reporter: ReporterProcess

    def states(self, namespace: str = "") -> dict[str, str]:
        """
        What is not clear, by reason; of all namespaces if none is named.
        """
        return {
            each["reason"]: each["state"]
            for subject in self.reporter.status()["subjects"]
            for each in subject["verdicts"]
            if namespace in {"", subject["namespace"]}
        }

    def until_held(self, namespace: str, *reasons: str) -> None:
        """
        So that it is no wonder if something wrong is said.
        """

        def held() -> bool:
            found = self.states(namespace)
            return all(found.get(each) == "held" for each in reasons)

        until(held, within=30, what=f"{', '.join(reasons)} of {namespace} held")

    def until_all_is_clear(self, namespace: str = "") -> None:
        """
        Nothing is held or settling any more, so that nothing can follow.
        """
        what = f"nothing of {namespace or 'the cluster'} is held"
        try:
            until(lambda: not self.states(namespace), within=60, what=what)
        except NotWithin as err:
            raise AssertionError(f"{err}\n{self.reporter.account()}") from None

    def said(self, namespace: str = "") -> list[Event]:
        client = self.reporter.plane.client
        return events.ours(client, involved=namespace) if namespace else events.ours(client)
