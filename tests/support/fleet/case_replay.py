"""Play a case file of the fleet: rounds every thirty seconds, and what changes between them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from reporter.hub.records import FleetRules
from reporter.model.enums import Engage
from tests.support.cases import read_yaml
from tests.support.fleet.rounds import STATES, Rounds, a_cluster
from tests.support.fleet.series import NOON, SourceSeries


CASES = Path(__file__).parents[2] / "cases" / "fleet"
INTERVAL = 30
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

CASE_KEYS = {"why", "rules", "objects", "sources", "story", "states", "dropped", "until"}
STEP_KEYS = {"at", "what", "objects", "sources", "engine", "restart"}
SOURCE_KEYS = {
    "label", "uid", "state", "states", "pod", "frozen", "gone", "clock", "evaluated", "blocking",
    "namespaces", "packages",
}  # fmt: skip


def case_files() -> dict[str, dict[str, Any]]:
    """Return the cases by name."""
    return {each.stem: read_yaml(each) for each in sorted(CASES.glob("*.yaml"))}


def seconds(text: str) -> int:
    """Return a time such as 30s, 5m, -1h or 1h30m."""
    sign = -1 if text.startswith("-") else 1
    parts = re.findall(r"(\d+)([smhd])", text)
    assert "".join(n + u for n, u in parts) == text.removeprefix("-"), text
    return sign * sum(int(number) * UNITS[unit] for number, unit in parts)


class CaseRounds:
    """*states*: what was seen by time and cluster."""

    def __init__(self, case: dict[str, Any]) -> None:
        assert set(case) <= CASE_KEYS, set(case) - CASE_KEYS
        rules = dict(case.get("rules", {}))
        engage = Engage(rules.pop("engage", "listed"))
        self.rounds = Rounds(FleetRules(engage=engage, **rules))
        self._case, self._engine = case, "answers"
        self._sources: dict[str, dict[str, Any]] = {}
        self._frozen_at: dict[str, float] = {}
        self._generations: dict[str, int] = {}
        self._apply(case)
        self.states: dict[str, dict[str, str]] = {}

    def run(self) -> "CaseRounds":
        steps = sorted(self._case.get("story", ()), key=lambda step: seconds(step["at"]))
        wanted = self._case["states"]
        last = seconds(self._case.get("until", "0s"))
        last = max([last, *(seconds(at) for at in wanted)])
        pending = list(steps)
        for time in range(0, last + 1, INTERVAL):
            self.rounds.seconds = float(time)
            while pending and seconds(pending[0]["at"]) <= time:
                self._apply_step(pending.pop(0))
            self._play(time)
            for at in wanted:
                if seconds(at) == time:
                    self.states[at] = dict(self.rounds.lines())
        assert len(self.states) == len(wanted), "states must be at multiples of 30s"
        return self

    def _apply_step(self, step: dict[str, Any]) -> None:
        assert set(step) <= STEP_KEYS, set(step) - STEP_KEYS
        self._apply(step)
        self._engine = step.get("engine", self._engine)
        if step.get("restart"):
            self.rounds.restart()

    def _apply(self, change: dict[str, Any]) -> None:
        for name, spec in (change.get("objects") or {}).items():
            if spec is None:
                self.rounds.objects.pop(name)
                continue
            self._generations[name] = self._generations.get(name, 0) + 1
            old = self.rounds.objects.get(name)
            status = old.status if old is not None else None
            made = a_cluster(name, generation=self._generations[name], status=status, **spec)
            self.rounds.engage(made)
        for name, source in (change.get("sources") or {}).items():
            assert set(source) <= SOURCE_KEYS, set(source) - SOURCE_KEYS
            was_frozen = self._sources.get(name, {}).get("frozen")
            self._sources[name] = self._sources.get(name, {}) | source
            if source.get("frozen") and not was_frozen:
                self._frozen_at[name] = self.rounds.seconds - INTERVAL

    def _play(self, time: int) -> None:
        if self._engine == "answers":
            self.rounds.ask(*self._series(time))
        elif self._engine == "copies":  # two that answer in turn, and the second lags behind
            lag = INTERVAL if time % (2 * INTERVAL) else 0
            self.rounds.ask(*self._series(time, lag))
        elif self._engine == "empty":
            self.rounds.ask()
        else:
            self.rounds.fail()

    def _series(self, time: int, lag: int = 0) -> list[SourceSeries]:
        return [
            self._one(name, source, time, lag)
            for name, source in self._sources.items()
            if not source.get("gone")
        ]

    def _one(self, name: str, source: dict[str, Any], time: int, lag: int) -> SourceSeries:
        at = self._frozen_at[name] if source.get("frozen") else time
        evaluated = NOON + at - lag + seconds(source.get("clock", "0s")) - 7
        states = source.get("states", [source.get("state", "Current")])
        made = SourceSeries(
            label=source.get("label", "prod"),
            uid=source.get("uid", "uid-1"),
            evaluated=source.get("evaluated", evaluated),
            states=tuple(STATES[state] for state in states),
            target={"job": "reporter", "pod": source.get("pod", name)},
        )
        blocking = source.get("blocking")
        return replace(
            made,
            blocking=tuple(blocking.split()) if blocking else None,
            namespaces={k: STATES[v] for k, v in source.get("namespaces", {}).items()},
            packages=dict(_packages(source.get("packages", {}))),
        )


def _packages(found: dict[str, int]) -> Any:
    for text, number in found.items():
        package, revision, state = text.split()
        yield (package, revision, STATES[state]), number
