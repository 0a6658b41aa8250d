"""The findings of a reporter under test in a namespace, and its Events."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from e2e.controlplane import ControlPlane, WaitTimeout, until
from e2e.support import events
from e2e.support.events import Event
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SETTLE
from reporter.catalogue.entries import CatalogueEntry
from reporter.model.enums import TroubleKind
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


SHORT_HOLD = 2
"""
Seconds of the holds of hard errors, losses and declared states; starting objects keep theirs.
"""

MIN_STARTING_HOLD = timedelta(minutes=15)
"""
The hold of starting objects in place of a shorter grace: longer than any step on a slow machine.
"""

DOWNLOAD_REASON = "inferencesetWeightDownloadSlow"
CONTRADICTED_REASON = "inferencesetStatusContradicted"
"""A test writes the status in KAITO's place, and on a slow machine later than a short hold."""

ANNOUNCE_WAIT = SHORT_HOLD + 2
"""Seconds after which a finding mistaken for one of these has been announced."""


NO_PAGES = "--scrape=loading"
"""For Ready pods without a metrics page, whose engines would be Unknown."""


def short_hold_flags(plane: ControlPlane, *, off: str = "") -> tuple[str, ...]:
    """
    Return flags with short holds for everything except starting objects. *off*: a reason to
    disable.
    """
    judged = [entry for entry in DEFAULT_CATALOGUE.entries.values() if entry.is_evaluated]
    reasons: dict[str, Any] = {
        each.reason: {"hold": _short_holds(each)}
        for each in judged
        if each.reason not in (DOWNLOAD_REASON, CONTRADICTED_REASON)
    }
    if off:
        reasons[off] = {"enabled": False}
    path = plane.folder / "impatient-with-all.yaml"
    path.write_text(json.dumps({"reasons": reasons}))
    return (f"--catalogue-overlay={path}", f"--settle-seconds={SETTLE}")


def _short_holds(entry: CatalogueEntry) -> dict[str, str]:
    soon = timedelta(seconds=SHORT_HOLD)
    found = {kind: min(entry.holds.for_kind(kind, grace=soon), soon) for kind in TroubleKind}
    found[TroubleKind.STARTING] = entry.holds.for_kind(
        TroubleKind.STARTING, grace=MIN_STARTING_HOLD
    )
    return {str(kind): f"{hold.seconds}s" for kind, hold in found.items()}


@dataclass(frozen=True)
class Observer:
    reporter: ReporterProcess

    def unclear_states(self, namespace: str = "") -> dict[str, str]:
        """Return the states other than clear by reason, of all namespaces if none is named."""
        return {
            each["reason"]: each["state"]
            for subject in self.reporter.status()["subjects"]
            for each in subject["verdicts"]
            if namespace in {"", subject["namespace"]}
        }

    def wait_held(self, namespace: str, *reasons: str) -> None:
        """Wait until these reasons are held, so that an Event about them is possible."""

        def held() -> bool:
            found = self.unclear_states(namespace)
            return all(found.get(each) == "held" for each in reasons)

        until(held, within=60, what=f"{', '.join(reasons)} of {namespace} held")

    def wait_all_clear(self, namespace: str = "") -> None:
        """Wait until nothing is held or settling any more, so that nothing can follow."""
        what = f"nothing of {namespace or 'the cluster'} is held"
        try:
            until(lambda: not self.unclear_states(namespace), within=60, what=what)
        except WaitTimeout as err:
            raise AssertionError(f"{err}\n{self.reporter.account()}") from None

    def events(self, namespace: str = "") -> list[Event]:
        client = self.reporter.plane.client
        return (
            events.reporter_events(client, involved=namespace)
            if namespace
            else events.reporter_events(client)
        )
