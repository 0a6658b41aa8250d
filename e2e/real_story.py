"""
A case file, played on the real control plane with the real reporter.

Its times are left out: each step waits until what is announced after it has been announced.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from e2e import events
from e2e.controlplane import ControlPlane, until
from e2e.events import Event
from e2e.real_objects import Objects
from e2e.reporter_process import ReporterProcess
from reporter.model.words import Kind
from tests.shipped import CATALOGUE
from tests.stories.story import says, told
from tests.stories.world import span


GRACE, SETTLE = 1, 2
BRIEF = timedelta(seconds=1)
BURST = 0.3
"""
The seconds within which the reporter may look at several changes at once.
"""

WITHIN, WITHIN_LOOKS = 15, 60
"""
The seconds that an announcement has; those of one that needs two answers of discovery.
"""

FLAGS = (
    f"--startup-grace-seconds={GRACE}",
    f"--settle-seconds={SETTLE}",
    "--leader-elect=false",
)
STALLED = re.compile(r"\(no progress for [0-9hms]+\)")

Case = Mapping[str, Any]


def overlay(folder: Path) -> str:
    """
    The flag with which no hold is longer than a second.
    """
    reasons = {
        entry.reason: {
            "hold": {
                str(kind): f"{min(entry.holds.of(kind, grace=BRIEF), BRIEF).seconds}s"
                for kind in Kind
            }
        }
        for entry in CATALOGUE.entries.values()
        if entry.judged
    }
    path = folder / "brief.yaml"
    path.write_text(json.dumps({"reasons": reasons}))
    return f"--catalogue-overlay={path}"


@dataclass
class RealStory:
    plane: ControlPlane
    objects: Objects
    case: Case
    missing: set[str] = field(default_factory=set)

    def play(self) -> list[Event]:
        """
        All that was written, in order; also that of the settle after the last step.
        """
        client = self.plane.client
        self.objects.begin(self.case.get("given", {}).get("change", {}))
        events.clear(client)
        start = self._version()
        flags = [f"--{name}={value}" for name, value in self.case.get("flags", {}).items()]
        try:
            with ReporterProcess(self.plane, *FLAGS, overlay(self.plane.folder), *flags):
                self._until_grown()
                for step, lines in self._steps():
                    self._take(step, lines)
                return self._written(start)
        finally:
            for crd in list(self.missing):
                self._crd(crd, ["v1"])

    def _steps(self) -> Iterator[tuple[Case, list[str]]]:
        """
        Each with what is announced before the next one.
        """
        said = told(self.case)
        story = [{"at": "0s"}, *self.case["story"], {"at": "99h"}]
        for step, following in pairwise(story):
            begin, end = span(step["at"]), span(following["at"])
            yield step, [line for at, line in said if begin <= at < end]

    def _take(self, step: Case, lines: list[str]) -> None:
        before = self._version()
        self.objects.change(step.get("change", {}))
        for crd, versions in step.get("crds", {}).items():
            self._crd(crd, versions)
        if lines:
            self._until_said(lines, before, WITHIN_LOOKS if self.case_has_crds else WITHIN)
        else:
            self._pass(BURST)

    @property
    def case_has_crds(self) -> bool:
        return any("crds" in step for step in self.case["story"])

    def _crd(self, crd: str, versions: list[str] | None) -> None:
        if versions is None:
            self.missing.add(crd)
            self.plane.remove_crd(crd)
        else:
            self.missing.discard(crd)
            self.plane.install_crds(crd)
            self.objects.again(crd)

    # ------------------------------------------------------------ waiting, reading

    def _until_grown(self) -> None:
        """
        What has just started judges nothing for the length of the grace.
        """
        self._pass(GRACE + BURST)

    def _pass(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        until(lambda: time.monotonic() > end, within=seconds + 1, what="time passes")

    def _until_said(self, lines: list[str], before: int, within: float) -> None:
        """
        The last of them; that they came in this order can be told from all that was written.
        """

        def read() -> bool:
            new = [e for e in events.ours(self.plane.client) if int(e.version) > before]
            return any(agree(each, lines[-1]) for each in new)

        try:
            until(read, within=within, what=lines[-1])
        except AssertionError as err:
            said = "\n".join(map(line, events.ours(self.plane.client)))
            raise AssertionError(f"{err}\nwhat was said:\n{said}") from None

    def _version(self) -> int:
        """
        Of the newest write there is.
        """
        return int(self.plane.client.get(events.PATH)["metadata"]["resourceVersion"])

    def _written(self, since: int) -> list[Event]:
        """
        Every write of the reporter since then, and in the seconds to come.
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


def line(event: Event) -> str:
    return f"{event.type} {event.reason} {'/'.join(event.involved)}: {event.message}"


def agree(event: Event, wanted: str) -> bool:
    """
    Whether it is what the case says, however long nothing has moved.
    """
    return says(_timeless(line(event)), _timeless(wanted))


def _timeless(text: str) -> str:
    return STALLED.sub("(no progress)", text)


def differences(written: list[Event], wanted: list[str]) -> list[str]:
    """
    Where the two part. A step is written object by object, so that half of it may be told first:
    of the same reason and the same object, a moment before the whole.
    """
    left, odd = list(wanted), []
    for each in written:
        if left and agree(each, left[0]):
            left.pop(0)
        elif not left or _head(line(each)) != _head(left[0]):
            odd.append(f"not expected: {line(each)}")
    return [*odd, *(f"not announced: {each}" for each in left)]


def _head(text: str) -> list[str]:
    """
    Type, reason and object.
    """
    return [word.rstrip(":…") for word in text.split()[:3]]
