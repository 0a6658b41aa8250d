"""Find what blocks a subject: the cause at the end of the chain of suppressions."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from reporter.evaluation.clocks import CauseClock, FindingState
from reporter.model.enums import Layer, Reason, TroubleKind
from reporter.model.states import Actionability, Pattern, SinceFrom
from reporter.model.subjects import FindingKey
from reporter.rollup.findings import is_last_seen, judged_clocks
from reporter.rollup.records import Blocker, SuppressedFinding
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.rollup.since import Since, kind_since, since_of


UNKNOWN, SETTLING, RECOVERING = "Unknown", "Settling", "Recovering"
"""
Codes where no trouble has one: the reason cannot be evaluated; its trouble has just ended; the cause
has ended, and what follows from it has yet to catch up.
"""

LAST_SEEN = "What it is about was in trouble when last seen, and cannot be evaluated now."


class BlockerFinder:
    """Finds the blockers of one fold. Many subjects share a cause, so answers are kept."""

    def __init__(self, given: RollUpInput, rules: RollUpRules) -> None:
        self._evaluation, self._now, self._episodes = given.evaluation, given.now, given.episodes
        self._rules = rules
        self._causes: dict[FindingKey, Blocker] = {}
        self._pointers: dict[tuple[FindingKey, tuple[Reason, ...]], Blocker] = {}

    def find(self, key: FindingKey) -> Blocker:
        """Return the cause of a finding: itself, or the root of what suppresses it."""
        suppressed_by = self._evaluation.suppressions.suppressed_by
        if key not in suppressed_by:
            return self._cause(key)
        path = _path_to_root(key, suppressed_by, self._rules, self._is_out)
        root, via = path[-1], tuple(dict.fromkeys(each.reason for each in path[:-1]))
        found = self._pointers.get((root, via))
        if found is None:
            found = self._pointers[root, via] = replace(self._cause(root), via=via)
        return found

    def find_first(self, keys: Sequence[FindingKey]) -> Blocker:
        """
        Return the cause of the first finding whose cause is not silenced; if all are, that of the first.

        A cause that somebody knows already must not stand before one that nobody does. *keys*: at least one.
        """
        found = map(self.find, keys)
        return next((each for each in found if each.silence is None), self.find(keys[0]))

    def find_suppressed(self, keys: Sequence[FindingKey]) -> tuple[SuppressedFinding, ...]:
        """
        Return those of the findings that are suppressed, each with the trouble that it has itself.
        """
        suppressed_by = self._evaluation.suppressions.suppressed_by
        states = self._evaluation.tracked.finding_states
        return tuple(
            SuppressedFinding(
                key=key,
                by=tuple(dict.fromkeys(each.reason for each in suppressed_by[key])),
                troubles=tuple(clock.trouble for clock in judged_clocks(states[key])),
                held=not states[key].announceable,
            )
            for key in keys
            if key in suppressed_by and judged_clocks(states[key])
        )

    def without_finding(self, layer: Layer, code: str, why: str, *, since: datetime) -> Blocker:
        """Return the blocker of a subject without a finding: in progress, or not evaluated."""
        return self._quiet(None, layer, code, why, Since(since, SinceFrom.PROCESS))

    def _cause(self, key: FindingKey) -> Blocker:
        found = self._causes.get(key)
        if found is None:
            silence = self._evaluation.silence_of(key)
            found = self._causes[key] = replace(self._make_cause(key), silence=silence)
        return found

    def _make_cause(self, key: FindingKey) -> Blocker:
        tracked, layer = self._evaluation.tracked, key.subject.layer
        state = tracked.finding_states.get(key)
        if state is not None:
            return self._of_state(key, state)
        unknown = tracked.unknown_states.get(key)
        if unknown is not None:
            return self._quiet(key, layer, UNKNOWN, unknown.why, _seen(unknown.since))
        outage = self._evaluation.suppressions.outages.get(key)
        ended = outage.as_of - outage.recovered_for if outage is not None else self._now
        why = "The cause has ended; what follows from it has yet to recover."
        return self._quiet(key, layer, RECOVERING, why, _seen(ended))

    def _of_state(self, key: FindingKey, state: FindingState) -> Blocker:
        layer, why, since = key.subject.layer, state.why_unknown, state.unknown_since
        if not why and is_last_seen(state):
            why = LAST_SEEN
            since = min(filter(None, (each.stopped_since for each in state.announceable)))
        if why:
            return self._quiet(key, layer, UNKNOWN, why, _seen(since or self._now))
        clocks = judged_clocks(state)
        return self._trouble(key, state, clocks) if clocks else self._settling(key, state)

    def _is_out(self, key: FindingKey) -> bool:
        """Return whether a source is out, as far as can be evaluated now."""
        outage = self._evaluation.suppressions.outages.get(key)
        state = self._evaluation.tracked.finding_states.get(key)
        is_unknown = state is not None and bool(state.why_unknown)
        return outage is not None and outage.is_out and not (outage.is_unknown or is_unknown)

    def _settling(self, key: FindingKey, state: FindingState) -> Blocker:
        why = "The trouble has ended, and has yet to stay away for the settle."
        ended = state.as_of - max(clock.clear_for for clock in state.clocks)
        return self._quiet(key, key.subject.layer, SETTLING, why, _seen(ended))

    def _trouble(
        self, key: FindingKey, state: FindingState, clocks: tuple[CauseClock, ...]
    ) -> Blocker:
        rules, now = self._rules, self._now
        # The same order as in the message, whose first sentence is about this trouble.
        clock = min(clocks, key=lambda each: (not each.trouble.is_out, each.trouble.cause))
        trouble, held = clock.trouble, not state.announceable
        since = since_of(key, state, clock, self._episodes, now=now)
        window = trouble.hold or rules.finding_window(key)
        is_starting = trouble.kind is TroubleKind.STARTING
        # What starts anew after trouble of another kind may take its time again.
        begun = _begun(since, kind_since(state, clock)) if is_starting else since.moment
        is_over = now - begun >= window
        stalled = is_over and not held
        transient = held or (is_starting and not is_over)
        return Blocker(
            key=key,
            code=trouble.cause.code,
            object=trouble.cause.object,
            layer=key.subject.layer,
            held=held,
            since=since.moment,
            since_from=since.source,
            window=window,
            actionability=Actionability.TRANSIENT if transient else self._owner(key),
            stalled=stalled,
            pattern=_pattern(stalled=stalled and is_starting),
            deadline=None if is_over or held else begun + window,
            troubles=tuple(each.trouble for each in clocks),
        )

    def _quiet(
        self, key: FindingKey | None, layer: Layer, code: str, why: str, since: Since
    ) -> Blocker:
        """Return a blocker for which no writer reports a cause."""
        window = self._rules.quiet_window(layer, key)
        stalled = self._now - since.moment >= window
        return Blocker(
            key=key,
            code=code,
            layer=layer,
            why=why,
            since=since.moment,
            since_from=since.source,
            window=window,
            actionability=self._owner(key) if stalled else Actionability.TRANSIENT,
            stalled=stalled,
            pattern=_pattern(stalled=stalled),
            deadline=None if stalled else since.moment + window,
        )

    def _owner(self, key: FindingKey | None) -> Actionability:
        if key is None:
            return Actionability.PLATFORM
        return Actionability.of_owner(self._rules.entry(key).owner)


def _begun(since: Since, of_kind: datetime) -> datetime:
    """Return since when something starts: as its clock has it, if that began at a sane time."""
    return of_kind if since.source is SinceFrom.WRITER else max(of_kind, since.moment)


def _seen(moment: datetime) -> Since:
    return Since(moment, SinceFrom.PROCESS)


def _pattern(*, stalled: bool) -> Pattern | None:
    return Pattern.NO_TERMINAL_STATE_REPORTED if stalled else None


def _path_to_root(
    key: FindingKey,
    suppressed_by: Mapping[FindingKey, tuple[FindingKey, ...]],
    rules: RollUpRules,
    is_out: Callable[[FindingKey], bool],
) -> tuple[FindingKey, ...]:
    """
    Return the way from a suppressed key to its root: of all roots the most important one that is out.

    The catalogue refuses cycles, and suppressions only lead upstream.
    """
    paths: dict[FindingKey, tuple[FindingKey, ...]] = {}
    left: list[tuple[FindingKey, ...]] = [(key,)]
    while left:
        path = left.pop(0)
        sources = suppressed_by.get(path[-1], ())
        if not sources:
            paths.setdefault(path[-1], path)
        left += [(*path, source) for source in sources if source not in path]

    def order(root: FindingKey) -> tuple[object, ...]:
        # One that recovers, or is Unknown, does not hide another one that is out.
        return (not is_out(root), root.subject.layer.order, rules.rank(root), root)

    return paths[min(paths, key=order)]
