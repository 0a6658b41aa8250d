"""
The replay of a case file on the real control plane with the real reporter.

The times of the case are left out: each step waits until its announcements have been made.
"""

import contextlib
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from e2e.controlplane import ControlPlane, crds, until
from e2e.support import events
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.cases.page_server import CasePageServer
from e2e.support.events import Event
from e2e.support.reporter_process import ReporterProcess
from reporter.model.entries import CatalogueEntry
from reporter.model.enums import TroubleKind
from tests.support.cases.case_catalogue import case_catalogue
from tests.support.cases.expectations import expected_announcements, matches_line
from tests.support.cases.syntax import parse_duration
from tests.support.health_events import CRD as HEALTH_EVENTS_CRD


GRACE, SETTLE = 1, 1
SHORT_HOLD, MAX_SHORTENED_HOLD = timedelta(seconds=1), timedelta(minutes=10)
HOLD_OVERRIDES = {"inferencesetInfraProvisioningFailed": timedelta(seconds=3)}
"""
Holds of reasons that have several steps of a case within one hold.
"""

PARAMETER_OVERRIDES: Mapping[str, Mapping[str, Any]] = {
    "inferencesetEngineStalled": {"window-seconds": 6, "no-traffic-window-seconds": 16},
    "inferencesetKVCacheSaturated": {"window-seconds": 4},
    "inferencesetPreemptionStorm": {"window-seconds": 4, "min-requests": 1},
    "inferencesetQueueGrowing": {"window-seconds": 6},
    "inferencesetRequestErrors": {"window-seconds": 6, "min-requests": 1},
    "inferencesetMetricsUnavailable": {"window-seconds": 3},
}
"""
Parameters of reasons whose window would be longer than a step is waited for. A window in which a
case has two steps is longer than the first of them takes.
"""

BURST = 0.3
"""
The seconds within which the reporter may look at several changes at once.
"""

ARRIVAL = 0.1
"""
The seconds in which a change reaches a watch.
"""

WITHIN = 25
"""
The time limit of an announcement, in seconds.
"""

SUPPORTED_KEYS = frozenset({"at", "what", "change", "pages"})
"""
The keys of a step that can be replayed on a real API server.
"""

SCRAPE_INTERVAL = 1
SCRAPED = 2 * SCRAPE_INTERVAL + BURST
"""
The seconds in which a changed page is read.
"""

FLAGS = (
    f"--scrape-interval-seconds={SCRAPE_INTERVAL}",
    "--scrape-mode=direct",
    f"--startup-grace-seconds={GRACE}",
    f"--settle-seconds={SETTLE}",
    "--leader-elect=false",
)
SCRAPING: Mapping[str, Any] = {
    "program": (sys.executable, "-m", "e2e.support.loopback_reporter"),
    "env": {"PYTHONPATH": str(Path(__file__).parents[3])},
}
"""
The reporter that reads pages at loopback addresses.
"""

MEASURED = re.compile(
    r"(?<= for )(?:\d+[hms])+|\d+(?= times while )|\d+(?= requests finished)|\d+ of \d+(?= requests)"
)
"""
Durations, and what is counted within a window. They depend on the time that passes between steps.
"""

Case = Mapping[str, Any]
NO_CASE: Case = {}


def overlay(folder: Path, case: Case = NO_CASE) -> str:
    """
    Return the flag of an overlay with short holds, beside what the case's own overlay changes. The
    longest holds stay: no case replayed here waits for them.
    """
    judged = [each for each in case_catalogue(case).entries.values() if each.is_evaluated]
    given = case.get("overlay", {}).get("reasons", {})
    reasons = {
        each.reason: {"hold": _brief(each), **given.get(each.reason, {})} for each in judged
    }
    for reason in reasons.keys() & PARAMETER_OVERRIDES.keys():
        reasons[reason] |= {"parameters": PARAMETER_OVERRIDES[reason]}
    path = folder / "brief.yaml"
    path.write_text(json.dumps({"reasons": reasons}))
    return f"--catalogue-overlay={path}"


def _brief(entry: CatalogueEntry) -> dict[str, str]:
    holds = {kind: entry.holds.for_kind(kind, grace=SHORT_HOLD) for kind in TroubleKind}
    brief = HOLD_OVERRIDES.get(entry.reason, SHORT_HOLD)
    return {
        str(kind): f"{min(hold, brief).seconds}s"
        for kind, hold in holds.items()
        if hold < MAX_SHORTENED_HOLD
    }


@dataclass
class ClusterCaseReplay:
    """
    *grant*: False for an API server without RBAC.
    """

    plane: ControlPlane
    objects: CaseClusterObjects
    case: Case
    grant: bool = True
    on_announced: Callable[[list[str]], None] = lambda _: None
    """
    Called with the lines of a step once they have been announced.
    """

    def run(self) -> list[Event]:
        """
        Return all Events written, in order, including those of the settle period after the last
        step.
        """
        client, given = self.plane.client, self.case.get("given", {})
        flags = [f"--{name}={value}" for name, value in self.case.get("flags", {}).items()]
        brief = overlay(self.plane.folder, self.case)
        if "store" in self.case.get("flags", {}):
            crds.install(client, [HEALTH_EVENTS_CRD])
        with CasePageServer(self.case) as pages:
            self.objects.install(given.get("change", {}), pages.addresses)
            pages.change(given.get("pages", {}))
            events.clear(client)
            start = self._version()
            program = SCRAPING if pages.addresses else {}
            arguments = (*FLAGS, brief, *flags)
            with ReporterProcess(self.plane, *arguments, grant=self.grant, **program) as reporter:
                time.sleep(GRACE)
                for step, lines in self._steps():
                    self._take(reporter, pages, step, lines)
                return self._written(start)

    def _steps(self) -> Iterator[tuple[Case, list[str]]]:
        """
        Yield each step with the lines announced before the next one.
        """
        expected = expected_announcements(self.case)
        story = [{"at": "0s"}, *self.case["story"], {"at": "99h"}]
        for step, following in pairwise(story):
            begin, end = parse_duration(step["at"]), parse_duration(following["at"])
            yield step, [line for at, line in expected if begin <= at < end]

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
            time.sleep(SCRAPED if "pages" in step else BURST)

    # ------------------------------------------------------------ waiting, reading

    def _until_announced(self, lines: list[str], before: int) -> None:
        """
        Wait for the last line. The order of the lines is checked later, from all writes.
        """

        def read() -> bool:
            new = [e for e in events.reporter_events(self.plane.client) if int(e.version) > before]
            return any(matches_expected(each, lines[-1]) for each in new)

        try:
            until(read, within=WITHIN, what=lines[-1])
        except AssertionError as err:
            written = "\n".join(map(line, events.reporter_events(self.plane.client)))
            raise AssertionError(f"{err}\nwritten was:\n{written}") from None

    def _version(self) -> int:
        """
        Return the resource version of the newest write.
        """
        return int(self.plane.client.get(events.PATH)["metadata"]["resourceVersion"])

    def _written(self, since: int) -> list[Event]:
        """
        Return every write of the reporter since then, and in the seconds to come.
        """
        query = f"watch=1&resourceVersion={since}&timeoutSeconds={SETTLE + 1}"
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
    """
    Stop the reporter, because a step is written object by object and must be seen at once.
    """
    pid = reporter.process.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def line(event: Event) -> str:
    return f"{event.type} {event.reason} {'/'.join(event.involved)}: {event.message}"


def matches_expected(event: Event, wanted: str) -> bool:
    """
    Return whether an Event has the line that the case expects, whatever durations and counts of a
    window it states.
    """
    return matches_line(_without_measures(line(event)), _without_measures(wanted))


def _without_measures(text: str) -> str:
    return MEASURED.sub("#", text)


def differences(written: list[Event], case: Case) -> list[str]:
    """
    Return the differences. Lines that a case expects at the same moment may come in any order.
    """
    expected = groupby(expected_announcements(case), key=itemgetter(0))
    left, odd = [[text for _, text in each] for _, each in expected], []
    for each in written:
        found = (
            next((text for text in left[0] if matches_expected(each, text)), None)
            if left
            else None
        )
        if found is None:
            odd.append(f"not expected: {line(each)}")
            continue
        left[0].remove(found)
        left = left if left[0] else left[1:]
    return [*odd, *(f"not announced: {text}" for group in left for text in group)]
