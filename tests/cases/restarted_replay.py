"""
Replays of a case in which the process stops at some moment, and another one starts in its place.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from reporter.model.enums import Layer
from reporter.model.records.event_record import EventRecord
from reporter.model.rollup.states import State
from reporter.model.subjects import FindingKey
from reporter.stories.notation.syntax import parse_duration
from reporter.stories.notation.times import START
from reporter.stories.replay.story_replay import OBSERVE_AFTER_LAST_STEP, StoryReplay


class ObservedRestart(StoryReplay):
    """
    A replay that notes each subject that is Current while an episode of it runs, and each finding with
    an Event that has lasted since another moment after a restart.
    """

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.hidden: list[str] = []
        super().__init__(case)

    def run_pass(self) -> "ObservedRestart":
        super().run_pass()
        for key in self.announcement_state.episodes:
            entry = self.catalogue[key.reason]
            if not (entry.orthogonal or entry.is_ready_reason) and self._is_current(key):
                self.hidden.append(
                    f"{self.now - START} {key} is announced, and its subject Current"
                )
        return self

    def restart(self, *, back_after: float = 0.0) -> "ObservedRestart":
        before = self._announced_blockers()
        super().restart(back_after=back_after)
        after = self._announced_blockers()
        for key, (code, since) in before.items():
            if key in after and after[key][0] == code and after[key][1] != since:
                self.hidden.append(f"{key} {code} since {since} is so since {after[key][1]}")
        return self

    def _announced_blockers(self) -> Mapping[FindingKey, tuple[str, datetime]]:
        """
        Return code and beginning of each finding that blocks its subject and whose Event says all of it.

        Trouble that paused since its last write, and came back, is not in the Event.
        """
        episodes, states = self.announcement_state.episodes, self.evaluation.gate.finding_states
        told = {
            key
            for key, each in episodes.items()
            if key in states
            and all(
                clock.cause_since is None or clock.cause_since <= each.event.last_timestamp
                for clock in states[key].clocks
            )
        }
        cluster = self.rollup.cluster
        standings = [cluster.standing] if cluster is not None else []
        for each in self.rollup.namespaces.values():
            standings += [each.harness, *(found.standing for found in each.sets.values())]
        blockers = [each.blocker for each in standings if each.state is State.FAILED]
        return {
            each.key: (each.code, each.since)
            for each in blockers
            if each is not None and each.key in told
        }

    def _is_current(self, key: FindingKey) -> bool:
        subject = key.subject
        if subject.layer is Layer.CLUSTER:
            found = self.rollup.cluster
            return found is not None and found.standing.state is State.CURRENT
        record = self.rollup.namespaces.get(subject.namespace)
        if record is None or (subject.is_unnamed and subject.layer is Layer.MODELDEPLOYMENT):
            return False
        if subject.layer is Layer.MODELHARNESS and not subject.name:
            return record.harness.state is State.CURRENT
        each = record.sets.get(subject.name)
        return each is not None and each.standing.state is State.CURRENT


def span_of(case: Mapping[str, Any]) -> timedelta:
    if case.get("until"):
        return parse_duration(case["until"])
    steps = case["story"]
    return parse_duration(steps[-1]["at"] if steps else "0s") + OBSERVE_AFTER_LAST_STEP


def observed_for_longer(case: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Return the case with another hour at its end.

    A clock that stood still while something could not be read is late: a new process, which believes
    the time that a condition states, may announce what the old one would have announced later.
    """
    return {**case, "until": f"{int(span_of(case).total_seconds()) + 3600}s"}


def with_restart(case: Mapping[str, Any], second: int) -> Mapping[str, Any]:
    """
    Return the case with another step, in which the process is replaced.
    """
    steps = list(case["story"])
    later = [number for number, each in enumerate(steps) if _second_of(each) > second]
    steps.insert(later[0] if later else len(steps), {"at": f"{second}s", "restart": "0s"})
    return {**case, "story": steps, "until": f"{int(span_of(case).total_seconds())}s"}


def telling_seconds(case: Mapping[str, Any], written: Iterable[EventRecord]) -> Sequence[int]:
    """
    Return the seconds around which something happens or is written.
    """
    end = int(span_of(case).total_seconds())
    found = {_second(record.last_timestamp) + 1 for record in written}
    found |= {_second_of(step) + each for step in case["story"] for each in (-5, 5, 40)}
    return sorted(second for second in found if 0 < second < end)


def broken_law(old: StoryReplay, new: ObservedRestart, second: int) -> Iterator[str]:
    """
    Yield what a process that started at this second has written, and the old one would not have.

    Of a running episode the texts are compared, except for numbers in them and the suffixes. What was not
    announced yet may be described by what a new process can know: that an object does not exist, not
    that it was deleted.
    """
    start = START + timedelta(seconds=second)
    running = {each.key for each in old.writes if each.last_timestamp < start}

    def told(record: EventRecord) -> tuple[str, ...]:
        key = record.key
        plain = re.sub(r" \((also|suppressing downstream reasons): [^)]*\).*", "", record.message)
        text = re.sub(r"\d+", "N", plain) if key in running else ""
        return (record.type.value, key.reason, str(key.subject), key.item, text)

    after = [each for each in new.writes if each.last_timestamp >= start]
    extra = Counter(map(told, after)) - Counter(
        told(each) for each in old.writes if each.last_timestamp >= start
    )
    for record in after:
        if extra[told(record)] > 0:
            extra[told(record)] -= 1
            yield f"{record.last_timestamp - START} {record.type} {record.key}: {record.message}"
    yield from new.hidden


def _second(moment: datetime) -> int:
    return int((moment - START).total_seconds())


def _second_of(step: Mapping[str, Any]) -> int:
    return int(parse_duration(step["at"]).total_seconds())


def can_be_restarted(case: Mapping[str, Any]) -> bool:
    """
    Return whether the times of a case are those of one process, on one clock.
    """
    return not any("restart" in step or "clock" in step for step in case["story"])


def mixed(one: Mapping[str, Any], other: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Return a case in which the steps of two happen to one stack.
    """
    steps = sorted([*one["story"], *other["story"]], key=_second_of)
    end = int(max(span_of(one), span_of(other)).total_seconds())
    return {"why": "two at once", "of": [], "story": steps, "until": f"{end}s", "announced": {}}


def can_be_mixed(case: Mapping[str, Any]) -> bool:
    """
    Return whether a case has nothing but steps: no settings and no stack of its own.
    """
    return can_be_restarted(case) and case.keys() <= {
        "why",
        "of",
        "real",
        "story",
        "until",
        "announced",
        "status",
        "notes",
        "orders",
    }
