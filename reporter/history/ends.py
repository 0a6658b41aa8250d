"""
The end of an episode whose object is still Active, and is desired by no running episode.

What cannot be evaluated now has no end: its object stays as it is.
"""

from collections.abc import Callable
from functools import cached_property
from itertools import chain
from typing import TypeAlias

from reporter.announcing.schedule import PublishContext
from reporter.history.desired import episode_number
from reporter.kinds import health_events
from reporter.model.enums import Layer, Reason
from reporter.model.subjects import FindingKey, Subject


EndFunc: TypeAlias = Callable[[health_events.HealthEvent], health_events.Resolution | None]
"""Returns how the episode of an object has ended; None while that is not known."""


class EndFinder:
    """Finds how the episode of a stored object has ended, by the Evaluation of one moment."""

    def __init__(self, context: PublishContext) -> None:
        self._context = context

    def __call__(self, found: health_events.HealthEvent) -> health_events.Resolution | None:
        """Return how it has ended; None while it goes on, or nobody knows its end."""
        spec = found.spec
        key = FindingKey(health_events.subject_of(spec), Reason(spec.check_name), spec.item)
        running = self._context.announcement_state.episodes.get(key)
        if running is not None and episode_number(running.event) != spec.episode:
            return health_events.Resolution.SUPERSEDED
        if not self._is_evaluated(key.reason):
            return health_events.Resolution.GONE
        if running is not None:
            return health_events.Resolution.CLEARED  # of this node: the episode goes on elsewhere
        return self._end_of(key, spec)

    def _is_evaluated(self, reason: Reason) -> bool:
        catalogue, settings = self._context.catalogue, self._context.settings
        entry = catalogue.entries.get(reason)
        return entry is not None and entry.is_evaluated and reason not in settings.unchecked

    def _end_of(
        self, key: FindingKey, spec: health_events.HealthEventSpec
    ) -> health_events.Resolution | None:
        evaluation = self._context.evaluation
        known, tracked = evaluation.known_subjects, evaluation.tracked
        is_group = key.subject.layer is Layer.MODELDEPLOYMENT and key.subject.is_unnamed
        if known.why_not_all_known(key.subject) or evaluation.evaluated_at is None:
            return None
        is_plain_group = is_group and not key.subject.kind
        whole = Subject(Layer.MODELHARNESS, key.subject.namespace)
        subject = whole if is_plain_group else key.subject
        if not (known.may_include(subject) or subject in self._groups_of_kinds):
            return health_events.Resolution.GONE
        if known.is_unseen(subject) or key.reason not in tracked.evaluated_reasons:
            return None
        if is_group:
            is_open = (key.reason, key.subject.namespace) in self._open_in_namespaces
        else:
            is_open = key in tracked.finding_states or key in tracked.unknown_states
        return None if is_open else health_events.Resolution.CLEARED

    @cached_property
    def _groups_of_kinds(self) -> frozenset[Subject]:
        """
        The subjects for many of a kind of which there is one; the namespace may be no harness.
        """
        subjects = self._context.evaluation.subjects
        return frozenset(each.all_of_kind for each in subjects if each.kind)

    @cached_property
    def _open_in_namespaces(self) -> frozenset[tuple[Reason, str]]:
        """
        The reasons that any InferenceSet of a namespace has trouble with, or cannot be evaluated for.
        """
        tracked = self._context.evaluation.tracked
        return frozenset(
            (key.reason, key.subject.namespace)
            for key in chain(tracked.finding_states, tracked.unknown_states)
        )
