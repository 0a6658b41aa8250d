"""
Continue the findings that a predecessor announced, as its Events tell.

A restart is no event: what was announced counts as past its hold, with its code and its being out,
until this process has seen it clear for the settle. A finding is continued in the pass that looks at
its subject again, just before the verdicts: they say at once what has become of it.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from reporter.catalogue.entries import CatalogueEntry
from reporter.evaluation.clocks import ZERO, CauseClock, Delays, FindingState, TrackedFindings
from reporter.evaluation.holds import HoldRules
from reporter.evaluation.suppression import Outage, Suppressions, lost_nodes
from reporter.model.enums import Reason, TroubleKind
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import InvolvedObject, ObjectRef, Trouble
from reporter.snapshot.seen_before import NOTHING_SEEN_BEFORE, SeenBefore
from reporter.snapshot.subjects import Subjects


class RememberedFinding(Struct, frozen=True):
    """
    A finding that an Event of a predecessor is about, or names in its suffix.

    *announced_at*: when the episode of that Event began. *has_event*: the Event is its own.
    *seen_at*: when each trouble was first seen, by its object.
    *is_whole*: it had no other troubles than these; if it may have had, every trouble that it has now
    counts as announced.
    *is_overtaken*: a later Event shows that it was in trouble no longer, so that it has been clear for
    the settle, if it is clear now.
    *began*: by cause object, since when the trouble was of its kind, as far as known.
    *out_since*: since when its component was out; None if that is not known.
    *unknown_since*: since when it could not be evaluated; None if it could.
    """

    troubles: tuple[Trouble, ...]
    involved_object: InvolvedObject
    announced_at: datetime
    has_event: bool = True
    seen_at: Mapping[ObjectRef, datetime] = field(default_factory=dict)
    is_whole: bool = True
    is_overtaken: bool = False
    began: Mapping[ObjectRef, datetime] = field(default_factory=dict)
    out_since: datetime | None = None
    unknown_since: datetime | None = None

    @property
    def out_at(self) -> datetime:
        """The time at which its component went out; that of the announcement if it is unknown."""
        return self.out_since or self.announced_at


class Remembered(Struct, frozen=True):
    """
    Everything of a predecessor that this process has yet to continue.

    *findings*: the announced ones, and those that their suffixes name. *groups*: the keys of Events for
    many InferenceSets. *suppressing*: the reasons that an announced root names as suppressed.
    *seen*: what the predecessor saw of objects, and none shows any more.
    """

    findings: Mapping[FindingKey, RememberedFinding] = field(default_factory=dict)
    groups: frozenset[FindingKey] = frozenset()
    suppressing: Mapping[FindingKey, frozenset[Reason]] = field(default_factory=dict)
    seen: SeenBefore = NOTHING_SEEN_BEFORE

    def __bool__(self) -> bool:
        return bool(self.findings or self.groups)

    @property
    def subjects(self) -> frozenset[Subject]:
        """The subjects of the findings, without those of groups."""
        return frozenset(key.subject for key in self.findings)

    def merged(self, other: "Remembered") -> "Remembered":
        """Return the union with *other*, whose findings replace ours of the same key."""
        if not other:
            return self
        return Remembered(
            {**self.findings, **other.findings},
            self.groups | other.groups,
            {**self.suppressing, **other.suppressing},
            SeenBefore.union((self.seen, other.seen)),
        )

    def kept(self, is_kept: Callable[[FindingKey], bool]) -> "Remembered":
        """
        Return what is about the keys for which *is_kept* is true; what no object shows stays as it is.
        """
        return replace(
            self,
            findings={key: each for key, each in self.findings.items() if is_kept(key)},
            groups=frozenset(filter(is_kept, self.groups)),
            suppressing={key: each for key, each in self.suppressing.items() if is_kept(key)},
        )

    def without(self, continued: "Remembered") -> "Remembered":
        """Return what is left after *continued*, the findings that a pass has continued."""
        if not continued.findings:
            return self
        return self.kept(lambda key: key not in continued.findings)

    def with_groups_of(
        self, waiting: "Remembered", known: Subjects
    ) -> tuple["Remembered", "Remembered"]:
        """
        Return this with the groups of *waiting* whose InferenceSets can be seen, and what is left of it.

        What waits about a subject that does not exist is in neither.
        """
        if not waiting:
            return self, NOTHING_REMEMBERED
        unseen = frozenset(each for each in waiting.groups if known.is_unseen(each.subject))
        left = waiting.kept(lambda key: key in unseen or known.may_include(key.subject))
        return replace(self, groups=waiting.groups - unseen), left

    def of_subjects(self, subjects: Collection[Subject]) -> "Remembered":
        """
        Return the findings about these subjects, which a batch can continue; groups have no subject.
        """
        if not self.findings:
            return NOTHING_REMEMBERED
        wanted = frozenset(subjects)
        return replace(self.kept(lambda key: key.subject in wanted), groups=frozenset())

    def outages(self, *, now: datetime) -> Mapping[FindingKey, Outage]:
        """
        Return the sources that were out, and suppress until they are seen not to be for the settle.
        """
        return {
            key: Outage(now, began_at=each.out_at, nodes=lost_nodes(each.troubles))
            for key, each in self.findings.items()
            if not each.is_overtaken and any(trouble.is_out for trouble in each.troubles)
        }


NOTHING_REMEMBERED = Remembered()


def continue_findings(
    tracked: TrackedFindings,
    remembered: Remembered,
    *,
    now: datetime,
    entry_of: Callable[[Reason], CatalogueEntry],
    delays: Delays,
) -> TrackedFindings:
    """Return the tracked findings with the remembered ones, which count as past their hold."""
    if not remembered.findings:
        return tracked
    states, unknowns = dict(tracked.finding_states), dict(tracked.unknown_states)
    for key, finding in remembered.findings.items():
        if not finding.troubles:
            continue
        unknown = unknowns.pop(key, None)
        before = states.get(key)
        if before is None:
            before = FindingState(
                (),
                finding.involved_object,
                now,
                why_unknown=unknown.why if unknown else "",
                unknown_since=finding.unknown_since or (unknown.since if unknown else None),
            )
        elif before.unknown_since is not None and finding.unknown_since is not None:
            since = min(before.unknown_since, finding.unknown_since)
            before = msgspec.structs.replace(before, unknown_since=since)
        states[key] = _continued(
            before.advanced(now=now), finding, HoldRules(entry_of(key.reason), delays), now=now
        )
    return msgspec.structs.replace(tracked, finding_states=states, unknown_states=unknowns)


def _continued(
    state: FindingState, finding: RememberedFinding, rules: HoldRules, *, now: datetime
) -> FindingState:
    clocks = {clock.object: clock for clock in state.clocks}
    for trouble in finding.troubles:
        clear_for = rules.delays.settle if finding.is_overtaken else ZERO
        clock = clocks.get(trouble.cause.object) or CauseClock(trouble, clear_for=clear_for)
        seen, cause_since = clock.seen_at, clock.cause_since
        if clock.trouble.cause != trouble.cause:
            # The cause of now took the place of the announced one, and has yet to serve its hold.
            cause_since = cause_since or now - clock.time_in_kind
        if seen is None or clock.trouble.cause == trouble.cause:
            seen = finding.seen_at.get(clock.object, finding.announced_at)
        clocks[clock.object] = msgspec.structs.replace(
            clock,
            past_hold=True,
            found_at=min(clock.found_at or finding.announced_at, finding.announced_at),
            time_in_kind=_lasted(clock, trouble, finding, rules, now=now),
            out_since=(clock.out_since or finding.out_at) if trouble.is_out else clock.out_since,
            seen_at=seen,
            cause_since=cause_since,
        )
    announced_at = finding.announced_at if finding.has_event else state.announced_at
    return msgspec.structs.replace(state, clocks=tuple(clocks.values()), announced_at=announced_at)


def _lasted(
    clock: CauseClock,
    trouble: Trouble,
    finding: RememberedFinding,
    rules: HoldRules,
    *,
    now: datetime,
) -> timedelta:
    """
    Return for how long the trouble of a clock has been of its kind, of which an Event has *trouble*.
    """
    if clock.trouble.kind is not trouble.kind:
        # The condition that states the present kind may be as old as the announced one.
        return ZERO
    began = finding.began.get(clock.object)
    if began is not None:
        return max(now - began, ZERO)
    # It was announced once its hold was over.
    announced_for = max(now - finding.announced_at, ZERO)
    return max(clock.time_in_kind, rules.hold(CauseClock(trouble)) + announced_for)


def found_after_outages(tracked: TrackedFindings, remembered: Remembered) -> TrackedFindings:
    """
    Date the findings that an Event names as suppressed: found no earlier than their source went out.

    A writer may state an earlier time: that of a condition whose reason has changed since.
    """
    if not remembered.suppressing:
        return tracked
    states = dict(tracked.finding_states)
    for root, reasons in remembered.suppressing.items():
        source = remembered.findings.get(root)
        if source is None or not reasons:
            continue
        for key in states.keys() - remembered.findings.keys():
            if key.reason in reasons and root.subject.namespace in {"", key.subject.namespace}:
                states[key] = _found_after(states[key], source.out_at)
    return msgspec.structs.replace(tracked, finding_states=states)


def _found_after(state: FindingState, moment: datetime) -> FindingState:
    clocks = [
        msgspec.structs.replace(each, found_at=max(each.found_at, moment))
        if each.found_at is not None
        else each
        for each in state.clocks
    ]
    return msgspec.structs.replace(state, clocks=tuple(clocks))


def count_announced(
    tracked: TrackedFindings, remembered: Remembered, suppressions: Suppressions
) -> TrackedFindings:
    """
    Let findings count as past their hold that Events announce without telling all their troubles.

    These are the members of a group, what a suffix names as suppressed, and findings whose Event
    does not hold all their troubles. What is only starting in a group's namespace may be no
    member; what is suppressed serves its hold anew once it no longer is.
    """
    if not remembered:
        return tracked
    states = dict(tracked.finding_states)
    groups = {(each.subject, each.reason, each.item) for each in remembered.groups}
    members = [
        key
        for key in states
        if groups and (key.subject.all_of_kind, key.reason, key.item) in groups
    ]
    suppressed = [
        key
        for root, reasons in remembered.suppressing.items()
        for key in suppressions.suppresses.get(root, ())
        if key.reason in reasons
    ]
    for key in members:
        states[key] = _past_hold(states[key], starting=False)
    partly = [key for key, finding in remembered.findings.items() if not finding.is_whole]
    for key in (*suppressed, *partly):
        if key in states:
            states[key] = _past_hold(states[key], starting=True)
    return msgspec.structs.replace(tracked, finding_states=states)


def _past_hold(state: FindingState, *, starting: bool) -> FindingState:
    """
    Return the state with everything that exists now past its hold; what is *starting* only if asked to.
    """
    clocks = [
        msgspec.structs.replace(clock, past_hold=True)
        if clock.active and (starting or clock.trouble.kind is not TroubleKind.STARTING)
        else clock
        for clock in state.clocks
    ]
    return msgspec.structs.replace(state, clocks=tuple(clocks))
