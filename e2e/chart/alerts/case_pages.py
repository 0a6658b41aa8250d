"""
The metrics pages of replayed cases, one a minute, and the findings that the program has then.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, TypeAlias

from e2e.chart.alerts.expected import Alert
from e2e.chart.alerts.timeline import NAMESPACE
from reporter.catalogue.entries import Catalogue
from reporter.metrics.page import Metrics
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey
from reporter.stories.format import expected_announcements, parse_duration
from reporter.stories.story_replay import StoryReplay
from tests.support.builders import NOON
from tests.support.cases import case_catalogue, read_cases
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass


Keys: TypeAlias = frozenset[FindingKey]
MINUTE, LONGEST = timedelta(minutes=1), timedelta(hours=3)
ENDINGS: Mapping[str, Mapping[str, Any]] = {
    "engine-queue-growing": {
        "pages": {"Pod team-m/qwen-7rk2p-0": {"values": {"running": 3, "waiting": 0}}}
    },
    "check-job-of-harness": {
        "change": {
            "Job team-a/gateway-1": {
                "status": {
                    "conditions": [{"type": "Available", "status": "True", "reason": "Accepted"}]
                }
            }
        }
    },
}
"""Recoveries for cases that end with their trouble, where no other case has one."""


def _read() -> Mapping[str, Mapping[str, Any]]:
    ended = {
        name: {**case, "story": [*case["story"], {"at": "30m", **ENDINGS[name]}], "until": "50m"}
        for name, case in read_cases().items()
        if name in ENDINGS
    }
    return {**read_cases(), **ended}


CASES = _read()


@dataclass(frozen=True)
class Minute:
    """*findings*: those that are not suppressed, without their items."""

    page: str
    findings: Keys


class CasePages(StoryReplay):
    """A replay that scrapes the metrics page of its process at each full minute."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.minutes: list[Minute] = []
        self._next_scrape = NOON
        self._new_process(case)
        super().__init__(case)

    def run(self) -> "CasePages":
        super().run()
        self._scrape_until(self.now + timedelta(milliseconds=1))
        return self

    def run_pass(self) -> "CasePages":
        self._scrape_until(self.now)
        super().run_pass()
        self._metrics.follow(finished_pass(self.evaluation))
        return self

    def restart(self, *, back_after: float = 0.0) -> "CasePages":
        self._new_process(self.story)
        super().restart(back_after=back_after)
        return self

    def _new_process(self, case: Mapping[str, Any]) -> None:
        self._metrics = Metrics(case_catalogue(case), list)

    def _scrape_until(self, end: Any) -> None:
        while self._next_scrape < end:
            self.minutes.append(Minute(self._metrics.render().decode(), self._findings()))
            self._next_scrape += MINUTE

    def _findings(self) -> Keys:
        evaluation = self.evaluation
        suppressed = evaluation.suppressions.suppressed_by
        return frozenset(
            FindingKey(key.subject, key.reason)
            for key, state in evaluation.gate.finding_states.items()
            if state.past_hold and key not in suppressed and evaluation.silence_of(key) is None
        )


@dataclass(frozen=True)
class Story:
    """The course of a case. The alert fires once a finding was there at two scrapes."""

    catalogue: Catalogue
    minutes: Sequence[Minute]

    def firing(self, minute: int) -> Keys:
        if minute == 0:
            return frozenset()
        return self.minutes[minute - 1].findings & self.minutes[minute].findings

    def fires(self, reason: str) -> bool:
        minutes = range(len(self.minutes))
        return any(key.reason == reason for minute in minutes for key in self.firing(minute))

    def resolves(self, reason: str) -> bool:
        """Return whether the alert fires at some time, and at the end no longer."""
        last = self.firing(len(self.minutes) - 1)
        return self.fires(reason) and all(key.reason != reason for key in last)

    def alerts(self, minute: int) -> list[Alert]:
        return [
            {
                "alertname": "ProductionStackFinding",
                "severity": "warning",
                "namespace": key.subject.namespace or NAMESPACE,
                "workload_namespace": key.subject.namespace,
                "inferenceset": key.subject.name,
                "layer": key.subject.layer,
                "reason": key.reason,
                "owner": self.catalogue[Reason(key.reason)].owner,
            }
            for key in sorted(self.firing(minute))
        ]


@cache
def play(name: str) -> Story:
    return story_of(CASES[name])


def story_of(case: Mapping[str, Any]) -> Story:
    return Story(case_catalogue(case), CasePages(case).run().minutes)


def warnings() -> list[str]:
    """Return the reasons that are announced as Warnings, also those that are off by default."""
    return sorted(e.reason for e in DEFAULT_CATALOGUE.entries.values() if not e.is_ready_reason)


def stories_of(reason: str) -> Iterator[Story]:
    """Play cases that announce a reason, the shortest first."""
    spans = {
        name: _span(case)
        for name, case in CASES.items()
        if any(f"Warning {reason} " in line for _, line in expected_announcements(case))
        and _is_plain(case)
    }
    for name in sorted(spans, key=lambda each: (spans[each], each)):
        yield play(name)


def _is_plain(case: Mapping[str, Any]) -> bool:
    """Return whether time goes on evenly, and not for longer than need be."""
    return _span(case) <= LONGEST and not any("clock" in step for step in case["story"])


def _span(case: Mapping[str, Any]) -> timedelta:
    last = case["story"][-1]["at"] if case["story"] else "0s"
    span: timedelta = parse_duration(str(case.get("until") or last))
    return span
