"""The result of one pass, from which every decision about announcing is made."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import Struct, field

from reporter.evaluation.clear_subjects import ClearSubjects
from reporter.evaluation.clocks import NOTHING_TRACKED, Delays, FindingState, TrackedFindings
from reporter.evaluation.diff import changed_keys, different_keys
from reporter.evaluation.rank import Ranking, RankingInput
from reporter.evaluation.remembered import NOTHING_REMEMBERED, Remembered
from reporter.evaluation.suppression import NO_SUPPRESSIONS, Suppressions
from reporter.model.enums import Emission, Reason, SuppressionMode
from reporter.model.silences import NO_SILENCES, Silence, Silences
from reporter.model.subjects import FindingKey, Subject
from reporter.snapshot.subjects import Subjects


class EvaluationSettings(Struct, frozen=True):
    """
    The settings of evaluating and announcing.

    *rewrite_interval*: the least time between two rewrites of one Event whose content changed.
    *suppression*: off evaluates every finding as if nothing depended on anything.
    *unchecked*: reasons that check nothing with the flags of this process.
    """

    delays: Delays = field(default_factory=Delays)
    emission: Emission = Emission.PRIMARY
    suppression: SuppressionMode = SuppressionMode.ON
    heartbeat: timedelta = timedelta(seconds=300)
    rewrite_interval: timedelta = timedelta(seconds=60)
    unchecked: frozenset[Reason] = frozenset()


class Evaluation(Struct, frozen=True):
    """
    Every key that is not clear, what suppresses it, and its rank.

    *paused*: subjects that are scaled to zero on purpose.
    *not_ready*: paused subjects, and those with a ranked reason that has not settled or is Unknown for
    another reason than a metrics page.
    *evaluated_at*: the moment of the pass; None before the first one.
    *notes*: advice to the operator that is no trouble, such as a flag to set, by reason and subject.
    *silences*: those that are written, and the keys that they silence.
    *remembered*: what Events that were read back say of subjects that no pass has looked at since.
    *unread_events*: why the Events of earlier processes are not known yet; empty once they are.
    *clear*: the subjects that are known to be clear, for the next full pass.
    """

    tracked: TrackedFindings = NOTHING_TRACKED
    suppressions: Suppressions = NO_SUPPRESSIONS
    rankings: Mapping[Subject, Ranking] = field(default_factory=dict)
    known_subjects: Subjects = field(default_factory=Subjects)
    paused: frozenset[Subject] = frozenset()
    not_ready: frozenset[Subject] = frozenset()
    evaluated_at: datetime | None = None
    notes: Mapping[FindingKey, tuple[str, ...]] = field(default_factory=dict)
    silences: Silences = NO_SILENCES
    remembered: Remembered = NOTHING_REMEMBERED
    unread_events: str = ""
    clear: ClearSubjects = field(default_factory=ClearSubjects)

    @property
    def subjects(self) -> frozenset[Subject]:
        """The subjects that the last pass knew, with those that it did not look at."""
        return self.known_subjects.all

    @property
    def ranking_input(self) -> RankingInput:
        """
        The part from which rankings follow; a subject is ranked anew only where it has changed.
        """
        return RankingInput(
            self.tracked.finding_states,
            self.suppressions.suppressed_by,
            self.silences.silenced,
            self.evaluated_at,
        )

    def changed_since(self, before: "Evaluation") -> frozenset[FindingKey]:
        """Return the keys of which the state, what suppresses or silences it, or the rank changed."""
        subjects = changed_keys(before.rankings, self.rankings)
        rankings = [each.ranking_of(subject) for subject in subjects for each in (before, self)]
        return frozenset(
            changed_keys(before.tracked.finding_states, self.tracked.finding_states)
            | changed_keys(before.tracked.unknown_states, self.tracked.unknown_states)
            | different_keys(before.suppressions.suppressed_by, self.suppressions.suppressed_by)
            | different_keys(before.silences.silenced, self.silences.silenced)
            | {key for ranking in rankings for key in (*ranking.ranked, *ranking.orthogonal)}
        )

    def finding_state_of(self, key: FindingKey) -> FindingState | None:
        """Return the state of a key with its clocks as of *evaluated_at*; None if it is clear."""
        state = self.tracked.finding_states.get(key)
        if state is None or self.evaluated_at is None:
            return state
        return state.advanced(now=self.evaluated_at)

    @property
    def keys(self) -> frozenset[FindingKey]:
        """The keys that are not clear: in trouble, held, settling or Unknown."""
        return frozenset(self.tracked.finding_states) | self.tracked.unknown_states.keys()

    def silence_of(self, key: FindingKey) -> Silence | None:
        """Return the silence for whose sake a key is not announced; None if there is none."""
        return self.silences.silenced.get(key)

    def ranking_of(self, subject: Subject) -> Ranking:
        """Return the ranking of a subject; one without candidates if nothing is wrong with it."""
        return self.rankings.get(subject, Ranking((), ()))
