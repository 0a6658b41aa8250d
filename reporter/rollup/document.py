"""Render the roll-up as published: texts, ages and sums, of as much of it as was asked for."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from reporter.announcing.message import MessageInput, ReportedTrouble, fill_remedy, render_message
from reporter.evaluation.clocks import ZERO
from reporter.model import status_document
from reporter.model.enums import Layer
from reporter.model.states import (
    ANY_STATE,
    Actionability,
    Mode,
    Pattern,
    SinceFrom,
    State,
)
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import Trouble
from reporter.rollup.records import (
    InferenceSetRecord,
    NamespaceRecord,
    RollUp,
    RollUpCause,
    SubjectState,
    SuppressedFinding,
    Totals,
    Unavailability,
)
from reporter.rollup.rules import LAYER_WINDOWS, RollUpRules
from reporter.rollup.subject_states import NOT_EVALUATED, NOT_LISTED
from reporter.rollup.totals import RankedCause, rank_causes
from reporter.snapshot.subjects import placeholder, unlisted_in_namespaces


NOT_STARTED = "No pass was finished yet."


class StatusView:
    """The roll-up at one moment, with *now* for ages. Rendering it changes nothing."""

    def __init__(
        self, rollup: RollUp, rules: RollUpRules, *, now: datetime, mode: Mode = Mode.WATCHING
    ) -> None:
        self.rollup, self.rules, self._now, self._mode = rollup, rules, now, mode

    def document(
        self,
        *namespaces: status_document.NamespaceStatus,
        cluster: status_document.ClusterStatus | None = None,
    ) -> status_document.StatusDocument:
        """
        Return the document of /status/v1 with these namespaces; *cluster* is None if not asked for.
        """
        return status_document.StatusDocument(
            schema=status_document.SCHEMA_VERSION,
            mode=self._mode,
            evaluated_at=self.rollup.evaluated_at,
            page_max_age_seconds=self.rollup.page_age,
            cluster=cluster,
            namespaces=namespaces,
        )

    def cluster(self) -> status_document.ClusterStatus:
        """
        Return the state of the control plane, and counts over all namespaces; Unknown before a pass.
        """
        rollup = self.rollup
        if rollup.cluster is None:
            return status_document.ClusterStatus(
                state=State.UNKNOWN,
                blocking=status_document.Blocking(
                    code=NOT_EVALUATED,
                    layer=Layer.CLUSTER,
                    message=NOT_STARTED,
                    actionability=Actionability.TRANSIENT,
                ),
                unobserved=rollup.find_unobserved(),
            )
        subject_state = rollup.cluster.subject_state
        return status_document.ClusterStatus(
            state=subject_state.state,
            uid=rollup.cluster.uid,
            last_known=subject_state.last_known,
            blocking=self.blocking(subject_state),
            suppressed=_describe_suppressed(subject_state.suppressed, self.rules),
            components=rollup.cluster.components,
            counts=status_document.ClusterCounts(
                namespaces=status_document.Counts.as_known(rollup.count_namespaces()),
                inference_sets=status_document.Counts.as_known(rollup.count_sets()),
                available=_count_available(
                    [each.totals for each in rollup.namespaces.values()],
                    is_known=rollup.cluster.has_all(Layer.MODELDEPLOYMENT),
                ),
            ),
            unlisted_layers=rollup.cluster.unlisted,
            unobserved=rollup.find_unobserved(),
        )

    def namespaces(self) -> Iterator[status_document.NamespaceStatus]:
        """Yield all namespaces by name."""
        for name in self.namespace_names():
            found = self.namespace(name)
            if found is not None:
                yield found

    def namespace_names(self, states: Collection[State] = ANY_STATE) -> list[str]:
        """Return the sorted names of namespaces in one of the states, or with an InferenceSet in one."""
        return [
            name
            for name, record in sorted(self.rollup.namespaces.items())
            if record.subject_state.state in states
            or any(number and state in states for state, number in record.totals.by_state.items())
        ]

    def namespace(
        self, name: str, states: Collection[State] = ANY_STATE
    ) -> status_document.NamespaceStatus | None:
        """
        Return one namespace with its InferenceSets in one of the states; None if it is not there.

        While namespaces cannot be listed, one that is not known is Unknown.
        """
        summary = self.namespace_summary(name)
        if summary is None:
            return None
        return replace(summary, inference_sets=tuple(self.inference_sets(name, states)))

    def namespace_summary(self, name: str) -> status_document.NamespaceStatus | None:
        """
        Return a namespace without its InferenceSets; None if it is not there, Unknown if not known.
        """
        record = self.rollup.namespaces.get(name)
        if record is None:
            return self._unlisted_namespace(name)
        subject_state = record.subject_state
        others = rank_causes(record.groups)[1:]
        return status_document.NamespaceStatus(
            name=name,
            state=subject_state.state,
            last_known=subject_state.last_known,
            available=record.available,
            available_counts=_count_available([record.totals], is_known=not record.unlisted),
            package=record.package,
            blocking=self.blocking(subject_state),
            contributing=tuple(map(_contributing, others[: status_document.MAX_CONTRIBUTING])),
            contributing_count=len(others),
            replicas=record.replicas,
            counts=status_document.Counts.as_known(record.counts),
            harness=self._harness(record),
        )

    def inference_sets(
        self, namespace: str, states: Collection[State] = ANY_STATE
    ) -> Iterator[status_document.InferenceSetStatus]:
        """Yield the InferenceSets of a namespace in one of the states, by name."""
        record = self.rollup.namespaces.get(namespace)
        for name, each in sorted(record.sets.items()) if record is not None else ():
            if each.subject_state.state in states:
                yield self._inference_set(name, each)

    def inference_set(
        self, namespace: str, name: str
    ) -> status_document.InferenceSetStatus | None:
        """Return one InferenceSet; None if it is not there, Unknown while that cannot be known."""
        record = self.rollup.namespaces.get(namespace)
        if record is not None and name in record.sets:
            return self._inference_set(name, record.sets[name])
        subject = self.rules.named_subject(namespace, name)
        whole = Subject(subject.layer, "", subject.all_of_kind.name)
        why = self._why_unlisted(whole)
        if not why:
            return None
        blocking = self._unlisted_blocking(whole, why)
        return status_document.InferenceSetStatus(
            name=name, state=State.UNKNOWN, blocking=blocking
        )

    def _unlisted_namespace(self, name: str) -> status_document.NamespaceStatus | None:
        whole = _unlisted_namespaces(self.rollup.evaluation.known_subjects.unknown)
        why = self._why_unlisted(whole)
        if not why:
            return None
        blocking = self._unlisted_blocking(whole, why)
        return status_document.NamespaceStatus(name=name, state=State.UNKNOWN, blocking=blocking)

    def _unlisted_blocking(self, whole: Subject, why: str) -> status_document.Blocking:
        """
        Return what blocks it now. Beyond the window, somebody has to let *whole* be listed.

        Since when is not known before the first pass, or if no reason about *whole* is evaluated.
        """
        unknown = self.rollup.evaluation.tracked.unknown_states
        since = min(
            (each.since for key, each in unknown.items() if key.subject == whole), default=None
        )
        lasted, window = self._now - (since or self._now), LAYER_WINDOWS[whole.layer]
        stalled = lasted >= window
        return status_document.Blocking(
            code=NOT_LISTED,
            layer=whole.layer,
            message=why,
            actionability=Actionability.PLATFORM if stalled else Actionability.TRANSIENT,
            since=since,
            since_from=None if since is None else SinceFrom.PROCESS,
            in_state_seconds=max(int(lasted.total_seconds()), 0),
            window_seconds=int(window.total_seconds()),
            stalled=stalled,
            pattern=Pattern.NO_TERMINAL_STATE_REPORTED if stalled else None,
        )

    def _why_unlisted(self, whole: Subject) -> str:
        """Return why subjects may exist that are not known; empty if all are known."""
        if self.rollup.cluster is None:
            return NOT_STARTED
        return self.rollup.evaluation.known_subjects.unknown.get(whole, "")

    def _inference_set(
        self, name: str, record: InferenceSetRecord
    ) -> status_document.InferenceSetStatus:
        subject_state, facts = record.subject_state, record.facts
        return status_document.InferenceSetStatus(
            name=name,
            state=subject_state.state,
            last_known=subject_state.last_known,
            available=record.available,
            not_available=self._not_available(record.unavailability),
            answered_at=facts.answered_at,
            answered_seconds=self._seconds_since(facts.answered_at),
            unreachable=record.why_unreachable,
            gateways=tuple(map("/".join, facts.gateways)),
            paused=facts.progress.is_paused,
            observed_generation=facts.progress.observed_generation,
            generation=facts.progress.generation,
            replicas=facts.replicas,
            not_judged=facts.not_judged,
            blocking=self.blocking(subject_state),
            suppressed=_describe_suppressed(subject_state.suppressed, self.rules),
        )

    def _harness(self, record: NamespaceRecord) -> status_document.HarnessStatus | None:
        harness = record.harness
        if record.is_bare:
            return None
        return status_document.HarnessStatus(
            state=harness.state,
            last_known=harness.last_known,
            blocking=self.blocking(harness),
            suppressed=_describe_suppressed(harness.suppressed, self.rules),
        )

    # ------------------------------------------------------------ what blocks

    def blocking(self, subject_state: SubjectState) -> status_document.Blocking | None:
        """Return what keeps a subject from being Current, with its texts; None if nothing does."""
        blocker = subject_state.blocker
        if blocker is None:
            return None
        message, remedy = self._texts(blocker)
        # An earlier process may have seen it begin, as long as its Events are not read; one that reads
        # the cluster once has seen nothing begin.
        is_dated = not (
            blocker.since_from is SinceFrom.PROCESS
            and (self.rollup.evaluation.unread_events or self._mode is Mode.ONE_SHOT)
        )
        return status_document.Blocking(
            reason=blocker.reason,
            code=blocker.code,
            layer=blocker.layer,
            object=str(blocker.object) if blocker.object is not None else "",
            message=message,
            remedy=remedy,
            actionability=blocker.actionability,
            pointer=blocker.is_pointer,
            via=blocker.via,
            held=blocker.held,
            since=blocker.since if is_dated else None,
            since_from=blocker.since_from if is_dated else None,
            in_state_seconds=(self._seconds_since(blocker.since) or 0) if is_dated else 0,
            window_seconds=int(blocker.window.total_seconds()),
            stalled=blocker.stalled,
            pattern=blocker.pattern,
            silenced=status_document.silenced_by(blocker.silence),
        )

    def _seconds_since(self, moment: datetime | None) -> int | None:
        return None if moment is None else max(int((self._now - moment).total_seconds()), 0)

    def _not_available(self, cause: Unavailability | None) -> status_document.NotAvailable | None:
        if cause is None:
            return None
        message, remedy = self._texts(cause)
        return status_document.NotAvailable(
            reason=cause.reason,
            code=cause.code,
            layer=cause.layer,
            object=str(cause.object) if cause.object is not None else "",
            message=message,
            remedy=remedy,
            actionability=cause.actionability,
            held=cause.held,
        )

    def _texts(self, cause: RollUpCause) -> tuple[str, str]:
        """Return what is wrong and what to do, as in the Event, without its suffixes."""
        if cause.key is None or cause.why:
            return cause.why, ""
        if not cause.troubles:
            return "", ""
        return _render_texts(cause.key, cause.troubles, self.rules)


def _count_available(
    totals: Iterable[Totals], *, is_known: bool
) -> status_document.AvailableCounts | None:
    """Return the numbers over all *totals*; None while there may be more InferenceSets."""
    if not is_known:
        return None
    found = list(totals)
    return status_document.AvailableCounts(
        available=sum(each.available for each in found),
        unavailable=sum(each.unavailable for each in found),
        unknown=sum(each.maybe_available for each in found),
        paused=sum(each.paused for each in found),
    )


def _contributing(cause: RankedCause) -> status_document.Contributing:
    return status_document.Contributing(
        reason=cause.key.reason,
        code=cause.key.code,
        state=_state_of_group(cause.key.milder_than_failed),
        pointer=cause.key.is_pointer,
        subjects=cause.subjects,
    )


def _state_of_group(milder_than_failed: int) -> State:
    severity = State.FAILED.severity - milder_than_failed
    return next(state for state in State if state.severity == severity)


# ---------------------------------------------------------------- texts, as in the Event


def _render_texts(
    key: FindingKey, troubles: Iterable[Trouble], rules: RollUpRules
) -> tuple[str, str]:
    """Return the message and the remedy, which has a key of its own, of at least one trouble."""
    reported = tuple(ReportedTrouble(each, ZERO) for each in troubles)
    first = min(reported, key=lambda each: _order(each.trouble))
    entry = rules.entry(key)
    whole = MessageInput(entry, key.subject, reported)
    bare = msgspec.structs.replace(whole, entry=msgspec.structs.replace(entry, remedies={}))
    return render_message(bare), fill_remedy(whole, first)


def _describe_suppressed(
    findings: Iterable[SuppressedFinding], rules: RollUpRules
) -> tuple[status_document.Suppressed, ...]:
    return tuple(_describe(each, rules) for each in findings)


def _describe(finding: SuppressedFinding, rules: RollUpRules) -> status_document.Suppressed:
    cause = min(finding.troubles, key=_order).cause
    return status_document.Suppressed(
        reason=finding.key.reason,
        code=cause.code,
        object=str(cause.object),
        message=_render_texts(finding.key, finding.troubles, rules)[0],
        held=finding.held,
        by=finding.by,
    )


def _order(trouble: Trouble) -> tuple[object, ...]:
    # The order of the message, whose first sentence is about the first.
    return (not trouble.is_out, trouble.cause)


# ---------------------------------------------------------------- what may exist although it is not known


def _unlisted_namespaces(unknown: Mapping[Subject, str]) -> Subject:
    """Return what would make a namespace known that is not: harnesses, or subjects of a pack."""
    harness = placeholder(Layer.MODELHARNESS)
    of_packs = {each: why for each, why in unknown.items() if each.kind}
    return harness if harness in unknown else unlisted_in_namespaces(of_packs) or harness
