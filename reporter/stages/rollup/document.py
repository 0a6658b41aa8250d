"""
Render the roll-up as published: texts, ages and sums, of as much of it as was asked for.
"""

import dataclasses
from collections.abc import Collection, Iterator
from datetime import datetime

from reporter.model.entries import CatalogueEntry
from reporter.model.rollup.states import COUNTED_STATES, Mode, State
from reporter.model.rollup.status import (
    MAX_CONTRIBUTING,
    SCHEMA_VERSION,
    Blocking,
    ClusterCounts,
    ClusterStatus,
    Contributing,
    Counts,
    HarnessStatus,
    InferenceSetStatus,
    NamespaceStatus,
    Replicas,
    StatusDocument,
)
from reporter.model.subjects import FindingKey
from reporter.stages.announcing.message import (
    MessageInput,
    ReportedTrouble,
    find_remedy,
    render_message,
)
from reporter.stages.evaluation.clocks import ZERO, CauseClock, FindingState
from reporter.stages.rollup.records import (
    Blocker,
    NamespaceRecord,
    RollUp,
    SetRecord,
    Standing,
    Totals,
)
from reporter.stages.rollup.rules import RollUpRules
from reporter.stages.rollup.subjects.totals import rank_causes


ANY_STATE: Collection[State] = frozenset(COUNTED_STATES)


class StatusView:
    """
    The roll-up at one moment, with *now* for ages. Rendering it changes nothing.
    """

    def __init__(
        self, rollup: RollUp, rules: RollUpRules, *, now: datetime, mode: Mode = Mode.WATCHING
    ) -> None:
        self.rollup, self._rules, self._now, self._mode = rollup, rules, now, mode

    def document(self, *namespaces: NamespaceStatus) -> StatusDocument:
        """
        Return a document with these namespaces.
        """
        return StatusDocument(
            schema=SCHEMA_VERSION,
            mode=self._mode,
            evaluated_at=self.rollup.evaluated_at,
            cluster=self.cluster(),
            namespaces=namespaces,
        )

    def cluster(self) -> ClusterStatus:
        rollup = self.rollup
        if rollup.cluster is None:
            return ClusterStatus(state=State.UNKNOWN)
        standing = rollup.cluster.standing
        return ClusterStatus(
            state=standing.state,
            last_known=standing.last_known,
            blocking=self.blocking(standing),
            components=rollup.cluster.components,
            counts=ClusterCounts(
                namespaces=Counts.of(rollup.namespace_counts),
                inference_sets=Counts.of(rollup.set_counts),
            ),
            unlisted_layers=rollup.cluster.unlisted,
        )

    def namespaces(self, states: Collection[State] = ANY_STATE) -> Iterator[NamespaceStatus]:
        """
        Yield the namespaces by name: those in one of the states, or with an InferenceSet in one.
        """
        for name in sorted(self.rollup.namespaces):
            found = self.namespace(name, states)
            if found is not None and (found.state in states or found.inference_sets):
                yield found

    def namespace(
        self, name: str, states: Collection[State] = ANY_STATE
    ) -> NamespaceStatus | None:
        """
        Return one namespace with its InferenceSets in one of the states; None if it is not there.
        """
        record = self.rollup.namespaces.get(name)
        if record is None:
            return None
        standing, totals = record.standing, record.totals
        others = rank_causes(record.groups)[1:]
        return NamespaceStatus(
            name=name,
            state=standing.state,
            last_known=standing.last_known,
            available=record.available,
            package=record.package,
            blocking=self.blocking(standing),
            contributing=tuple(
                Contributing(
                    reason=each.key.reason,
                    code=each.key.code,
                    state=_state_of_group(each.key.milder_than_failed),
                    pointer=each.key.is_pointer,
                    subjects=each.subjects,
                )
                for each in others[:MAX_CONTRIBUTING]
            ),
            contributing_count=len(others),
            replicas=sum_replicas(totals),
            counts=Counts.of(totals.by_state),
            harness=self._harness(record),
            inference_sets=tuple(
                self.inference_set(each, found)
                for each, found in sorted(record.sets.items())
                if found.standing.state in states
            ),
        )

    def inference_set(self, name: str, record: SetRecord) -> InferenceSetStatus:
        standing, facts = record.standing, record.facts
        return InferenceSetStatus(
            name=name,
            state=standing.state,
            last_known=standing.last_known,
            available=record.available,
            paused=facts.is_paused if facts is not None else False,
            observed_generation=facts.observed_generation if facts is not None else None,
            generation=facts.generation if facts is not None else None,
            replicas=facts.replicas if facts is not None else None,
            blocking=self.blocking(standing),
        )

    def _harness(self, record: NamespaceRecord) -> HarnessStatus:
        harness = record.harness
        return HarnessStatus(
            state=harness.state, last_known=harness.last_known, blocking=self.blocking(harness)
        )

    # ------------------------------------------------------------ what blocks

    def blocking(self, standing: Standing) -> Blocking | None:
        blocker = standing.blocker
        if blocker is None:
            return None
        message, remedy = self._texts(blocker)
        return Blocking(
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
            since=blocker.since,
            since_from=blocker.since_from,
            in_state_seconds=max(int((self._now - blocker.since).total_seconds()), 0),
            window_seconds=int(blocker.window.total_seconds()),
            stalled=blocker.stalled,
            pattern=blocker.pattern,
        )

    def _texts(self, blocker: Blocker) -> tuple[str, str]:
        """
        Return what is wrong and what to do, as the Event says it, without its suffixes.
        """
        if blocker.key is None or blocker.why:
            return blocker.why, ""
        state = self.rollup.evaluation.finding_state_of(blocker.key)
        entry = self._rules.entry(blocker.key)
        clocks = _shown_clocks(state) if state is not None else ()
        if not clocks:
            return "", ""
        troubles = tuple(ReportedTrouble(each.trouble, ZERO) for each in clocks)
        first = min(troubles, key=lambda each: (not each.trouble.is_out, each.trouble.cause))
        return _message(entry, blocker.key, troubles), find_remedy(entry, first)


def _shown_clocks(state: FindingState) -> tuple[CauseClock, ...]:
    return state.announceable or tuple(each for each in state.clocks.values() if each.active)


def _message(entry: CatalogueEntry, key: FindingKey, troubles: tuple[ReportedTrouble, ...]) -> str:
    return render_message(MessageInput(_without_remedy(entry), key.subject, troubles))


def _without_remedy(entry: CatalogueEntry) -> CatalogueEntry:
    return dataclasses.replace(entry, remedies={})


def _state_of_group(milder_than_failed: int) -> State:
    severity = State.FAILED.severity - milder_than_failed
    return next(state for state in State if state.severity == severity)


def sum_replicas(totals: Totals) -> Replicas:
    """
    Return the sums over the InferenceSets; None where one of them does not report.
    """
    return Replicas(
        desired=totals.desired,
        updated=None if totals.updated_unreported else totals.updated,
        ready=None if totals.ready_unreported else totals.ready,
    )
