"""
The replay of a case file on the real control plane with the real reporter.

The times of the case are left out: each step waits until its announcements have been made.
"""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.controlplane import ControlPlane, crds, until
from e2e.support import events
from e2e.support.cases.case_lines import matches_expected
from e2e.support.cases.case_steps import Case, steps
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.cases.declared_kinds import declared_kinds
from e2e.support.cases.page_server import CasePageServer
from e2e.support.cases.short_holds import GRACE, SCRAPE_INTERVAL, ReplayDelays, overlay
from e2e.support.events import Event
from e2e.support.reporter_process import ReporterProcess
from tests.support.health_events import CRD as HEALTH_EVENTS_CRD


BURST = 0.3
"""The seconds within which the reporter may look at several changes at once, while it runs."""

ARRIVAL = 0.2
"""The seconds in which a change that the API server has seen reaches a watch."""

MIN_AGE = 3
"""
The seconds after which a pod that was there before a story counts as Ready until now: two, and one for
a time without fractions.
"""

WITHIN = 60
"""The time limit of an announcement, in seconds."""

SUPPORTED_KEYS = frozenset({"at", "what", "change", "pages"})
"""The keys of a step that can be replayed on a real API server."""

SUPPORTED_AT_START = SUPPORTED_KEYS | {"crds"}
"""The same of what is given; ``crds`` says which versions of the case's own kinds are served."""

SCRAPED_WITHIN = 10
"""The seconds in which a page that is read at all is read twice, also on a busy machine."""

FLAGS = (
    f"--scrape-interval-seconds={SCRAPE_INTERVAL}",
    "--scrape-mode=direct",
    f"--startup-grace-seconds={GRACE}",
    "--leader-elect=false",
)
SCRAPING: Mapping[str, Any] = {
    "program": (sys.executable, "-m", "e2e.support.loopback_reporter"),
    "env": {"PYTHONPATH": str(Path(__file__).parents[3])},
}
"""The reporter that reads pages at loopback addresses."""


@dataclass
class ClusterCaseReplay:
    """*delays*: those of the case. *grant*: False for an API server without RBAC."""

    plane: ControlPlane
    objects: CaseClusterObjects
    case: Case
    delays: ReplayDelays
    grant: bool = True
    on_announced: Callable[[list[str]], None] = lambda _: None
    """Called with the lines of a step once they have been announced."""

    def run(self) -> list[Event]:
        """
        Return all Events written, in order, including those of the settle period after the last
        step.
        """
        client, given = self.plane.client, self.case.get("given", {})
        flags = [f"--{name}={value}" for name, value in self.case.get("flags", {}).items()]
        if "packs" in self.case:
            flags.append(f"--packs={','.join(self.case['packs'])}")
        brief = (overlay(self.plane.folder, self.case, self.delays), self.delays.flag)
        if "store" in self.case.get("flags", {}):
            crds.install(client, [HEALTH_EVENTS_CRD])
        with (
            CasePageServer(self.case) as pages,
            declared_kinds(client, self.case, grant=self.grant) as declared,
        ):
            if declared:
                self.objects.declare(declared)
            self.objects.install(given.get("change", {}), pages.addresses)
            installed_at = time.monotonic()
            pages.change(given.get("pages", {}))
            events.clear(client)
            start = self._version()
            program = SCRAPING if pages.addresses else {}
            arguments = (*FLAGS, *brief, *flags)
            with ReporterProcess(self.plane, *arguments, grant=self.grant, **program) as reporter:
                time.sleep(max(GRACE, installed_at + MIN_AGE - time.monotonic()))
                for step, lines in steps(self.case):
                    self._take(reporter, pages, step, lines)
                return self._written(start)

    def _take(
        self, reporter: ReporterProcess, pages: CasePageServer, step: Case, lines: list[str]
    ) -> None:
        before = self._version()
        with _asleep(reporter):
            self.objects.change(step.get("change", {}))
            pages.change(step.get("pages", {}))
            time.sleep(ARRIVAL)
        if lines:
            self._until_announced(lines, before)
            self.on_announced(lines)
        else:
            pages.wait_read(step.get("pages", {}), within=SCRAPED_WITHIN)
            _wait_evaluated(reporter)

    # ------------------------------------------------------------ waiting, reading

    def _until_announced(self, lines: list[str], before: int) -> None:
        """Wait for the last line. The order of the lines is checked later, from all writes."""

        def read() -> bool:
            new = [e for e in events.reporter_events(self.plane.client) if int(e.version) > before]
            return any(matches_expected(line(each), lines[-1]) for each in new)

        try:
            until(read, within=WITHIN, what=lines[-1])
        except AssertionError as err:
            written = "\n".join(map(line, events.reporter_events(self.plane.client)))
            raise AssertionError(f"{err}\nwritten was:\n{written}") from None

    def _version(self) -> int:
        """Return the resource version of the newest write."""
        return int(self.plane.client.get(events.PATH)["metadata"]["resourceVersion"])

    def _written(self, since: int) -> list[Event]:
        """Return every write of the reporter since then, and in the settle period to come."""
        query = f"watch=1&resourceVersion={since}&timeoutSeconds={self.delays.settle.seconds + 1}"
        text = self.plane.client.raw("GET", f"{events.PATH}?{query}")
        found = [json.loads(each) for each in text.splitlines()]
        return [
            Event.of(each["object"])
            for each in found
            if each["type"] in {"ADDED", "MODIFIED"}
            and each["object"].get("source", {}).get("component") == events.SOURCE
        ]


@contextlib.contextmanager
def _asleep(reporter: ReporterProcess) -> Iterator[None]:
    """Stop the reporter, because a step is written object by object and must be seen at once."""
    pid = reporter.process.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _wait_evaluated(reporter: ReporterProcess) -> None:
    """
    Wait until the reporter has evaluated what has arrived. It answers in the event loop that reads the
    watches and evaluates, so an answer shows that it does not stand still.
    """
    reporter.readiness()
    time.sleep(BURST)
    reporter.readiness()


def line(event: Event) -> str:
    return f"{event.type} {event.reason} {'/'.join(event.involved)}: {event.message}"
