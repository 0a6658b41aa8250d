"""
The metrics pages of replayed cases, one a minute, and the findings that the program has then.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

from e2e.chart.alerts.expected import Alert
from e2e.chart.alerts.timeline import NAMESPACE
from reporter.catalogue.entries import Catalogue
from reporter.controller.enabled_scrapes import scraping_reasons
from reporter.evaluation.clocks import FindingState
from reporter.evaluation.finished_pass import FinishedPass
from reporter.evaluation.registry import SPECS
from reporter.metrics.page import Metrics
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey
from reporter.stories.format import expected_announcements, parse_duration
from reporter.stories.story_replay import StoryReplay
from tests.support.builders import NOON
from tests.support.cases import case_catalogue, read_cases
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import leading_metrics, metrics_text


class Found(NamedTuple):
    """A finding without its item, with a severity that its alert has."""

    key: FindingKey
    severity: str


Findings: TypeAlias = frozenset[Found]
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


Step: TypeAlias = FinishedPass | Metrics | Findings
"""One change of a metrics page: a pass, a new process, or a scrape with the findings at its moment."""


class CaseCourse(StoryReplay):
    """
    A replay that notes what its process shows, and at each full minute the findings that are not
    suppressed or silenced.
    """

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.steps: list[Step] = []
        self._entries = case_catalogue(case).entries
        self._next_scrape = NOON
        self._new_process(case)
        super().__init__(case)

    def run(self) -> "CaseCourse":
        super().run()
        self._scrape_until(self.now + timedelta(milliseconds=1))
        return self

    def run_pass(self) -> "CaseCourse":
        self._scrape_until(self.now)
        super().run_pass()
        self.steps.append(finished_pass(self.evaluation))
        return self

    def restart(self, *, back_after: float = 0.0) -> "CaseCourse":
        self._new_process(self.story)
        super().restart(back_after=back_after)
        return self

    def _new_process(self, case: Mapping[str, Any]) -> None:
        self.steps.append(self._new_metrics(case))

    def _new_metrics(self, case: Mapping[str, Any]) -> Metrics:
        return _leading(case_catalogue(case))

    def _scrape_until(self, end: Any) -> None:
        while self._next_scrape < end:
            self.steps.append(self._findings())
            self._next_scrape += MINUTE

    def _findings(self) -> Findings:
        evaluation = self.evaluation
        suppressed = evaluation.suppressions.suppressed_by
        return frozenset(
            Found(FindingKey(key.subject, key.reason), severity)
            for key, state in evaluation.tracked.finding_states.items()
            if state.past_hold and key not in suppressed and evaluation.silence_of(key) is None
            for severity in self._severities(key, state)
        )

    def _severities(self, key: FindingKey, state: FindingState) -> Iterator[str]:
        entry = self._entries[Reason(key.reason)]
        yield entry.severity
        is_out = any(
            each.active and each.past_hold and each.trouble.is_out for each in state.clocks
        )
        if entry.severity_while_out and is_out:
            yield entry.severity_while_out


def _leading(catalogue: Catalogue) -> Metrics:
    return leading_metrics(catalogue, reading=scraping_reasons(catalogue, SPECS))


@dataclass(frozen=True)
class Story:
    """The course of a case. The alert fires once a finding was there at two scrapes."""

    catalogue: Catalogue
    steps: Sequence[Step]

    @cached_property
    def minutes(self) -> Sequence[Findings]:
        """The findings at each scrape."""
        return [each for each in self.steps if isinstance(each, frozenset)]

    def pages(self) -> Iterator[str]:
        """Yield the metrics page at each scrape, rendered once for those between two passes."""
        page, metrics = "", _leading(self.catalogue)
        for step in self.steps:
            match step:
                case Metrics():
                    page, metrics = "", step
                case FinishedPass():
                    page = ""
                    metrics.follow(step)
                case _:
                    page = page or metrics_text(metrics)
                    yield page

    def firing(self, minute: int) -> Findings:
        if minute == 0:
            return frozenset()
        return self.minutes[minute - 1] & self.minutes[minute]

    def fires(self, reason: str) -> bool:
        minutes = range(len(self.minutes))
        return any(key.reason == reason for minute in minutes for key, _ in self.firing(minute))

    def resolves(self, reason: str) -> bool:
        """Return whether the alert fires at some time, and at the end no longer."""
        last = self.firing(len(self.minutes) - 1)
        return self.fires(reason) and all(key.reason != reason for key, _ in last)

    def alerts(self, minute: int) -> list[Alert]:
        return [
            {"alertname": "ProductionStackFinding", "severity": severity, **self._labels(key)}
            for key, severity in sorted(self.firing(minute))
        ]

    def _labels(self, key: FindingKey) -> Alert:
        return {
            "namespace": key.subject.namespace or NAMESPACE,
            "workload_namespace": key.subject.namespace,
            "inferenceset": key.subject.name,
            "layer": key.subject.layer,
            "reason": key.reason,
            "owner": self.catalogue[Reason(key.reason)].owner,
        }


@cache
def play(name: str) -> Story:
    return story_of(CASES[name])


def story_of(case: Mapping[str, Any]) -> Story:
    return Story(case_catalogue(case), CaseCourse(case).run().steps)


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
