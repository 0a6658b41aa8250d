"""Summarize an answer about its target, whatever kind of subject that is."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain

from msgspec import Struct

from reporter.model import status_document
from reporter.model.states import State
from reporter.status.source import StatusAnswer, Target


WORKLOAD_LABEL = "productionstack.kaito.sh/managed-by=modelharness"
"""
The label of workload namespaces of the pack kaito, for people: who asks a reporter reads no pack.
"""


class Summary(Struct, frozen=True):
    """
    The state of the subject that was asked about, and what blocks it.

    *worst*: the worst state of it and of what is in it, where InferenceSets count as *answering_state*
    says; what is being deleted counts only if all is. *available*: None if it is not known, and for the
    cluster. *not_available*: why it is not; for a namespace the cause of its first InferenceSet that is
    not. *counts*: of a namespace, how many of its InferenceSets are available. *answered_seconds*: of an
    InferenceSet, the age of the last answer to a check; None without one that counts.
    """

    state: State
    worst: State
    available: bool | None = None
    not_available: status_document.NotAvailable | None = None
    counts: status_document.AvailableCounts | None = None
    answered_seconds: int | None = None
    replicas: status_document.Replicas | None = None
    blocking: status_document.Blocking | None = None
    evaluated_at: datetime | None = None
    suppressed: tuple[status_document.Suppressed, ...] = ()


def summarize(answer: StatusAnswer, target: Target) -> Summary:
    """
    Return the state of the subject that *target* names, and what blocks it.

    NotFound if the answer has no such subject. Unknown if everything or the control plane was asked
    about, and the answer leaves the control plane out.
    """
    document = answer.document
    if document is None:
        return Summary(State.NOT_FOUND, State.NOT_FOUND)
    at = document.evaluated_at
    if not target.namespace:
        return _summarize_cluster(document, everything=target.is_everything)
    namespace = answer.namespace
    if namespace is None:
        return Summary(State.NOT_FOUND, State.NOT_FOUND, evaluated_at=at)
    subject: status_document.NamespaceStatus | status_document.InferenceSetStatus = namespace
    if target.name:
        if not namespace.inference_sets:
            return Summary(State.NOT_FOUND, State.NOT_FOUND, evaluated_at=at)
        subject = namespace.inference_sets[0]
    sets = namespace.inference_sets
    is_named = isinstance(subject, status_document.InferenceSetStatus)
    return Summary(
        subject.state,
        _worst([subject.state, *map(answering_state, sets)]),
        available=subject.available,
        not_available=find_first_cause(sets),
        counts=None if is_named else namespace.available_counts,
        answered_seconds=sets[0].answered_seconds if is_named else None,
        replicas=subject.replicas,
        blocking=subject.blocking,
        evaluated_at=at,
        suppressed=suppressed_of(subject),
    )


def answering_state(each: status_document.InferenceSetStatus) -> State:
    """
    Return the state of an InferenceSet as *worst* of Summary counts it: a Current one must be available.

    One that is not counts as Failed, as InProgress while its cause may still be a normal change, or as
    Unknown if its availability is. An intended cause, such as a scale to zero, does not count.
    """
    cause = each.not_available
    if each.state is not State.CURRENT or cause is None or cause.is_intended:
        return each.state
    if each.available is None:
        return State.UNKNOWN
    return State.IN_PROGRESS if cause.held else State.FAILED


def find_first_cause(
    sets: Sequence[status_document.InferenceSetStatus],
) -> status_document.NotAvailable | None:
    """
    Return the cause of the first InferenceSet that is not available; else of the first that may not be.

    One that is scaled to zero is passed over, unless it is the only one. None without any cause.
    """
    found = [each for each in sets if each.not_available is not None and not each.paused]
    found.sort(key=lambda each: each.available is None)
    if found:
        return found[0].not_available
    return sets[0].not_available if len(sets) == 1 else None


def _worst(states: Iterable[State]) -> State:
    return max(_judged([*states]), key=lambda state: state.severity)


def _summarize_cluster(document: status_document.StatusDocument, *, everything: bool) -> Summary:
    if document.cluster is None:
        return Summary(State.UNKNOWN, State.UNKNOWN)
    cluster = document.cluster
    states = [cluster.state, *(each.state for each in document.namespaces)]
    sets = chain.from_iterable(each.inference_sets for each in document.namespaces)
    states += map(answering_state, sets)
    # Layers that cannot be listed may hide subjects in any state.
    states += [each.state for each in cluster.unlisted_layers if everything]
    return Summary(
        cluster.state,
        _worst(states),
        blocking=cluster.blocking,
        evaluated_at=document.evaluated_at,
        suppressed=cluster.suppressed,
    )


def suppressed_of(
    subject: status_document.ClusterStatus
    | status_document.NamespaceStatus
    | status_document.InferenceSetStatus,
) -> tuple[status_document.Suppressed, ...]:
    """Return the suppressed findings of a subject: of a namespace, those of its harness."""
    if isinstance(subject, status_document.NamespaceStatus):
        return subject.harness.suppressed if subject.harness is not None else ()
    return subject.suppressed


def _judged(states: list[State]) -> list[State]:
    """Leave out what is being deleted, which is no answer about health."""
    return [state for state in states if state is not State.TERMINATING] or states


def describe_missing(answer: StatusAnswer, target: Target) -> str:
    """
    Return a line for a subject that is not there, with a similar name or the command that lists names.

    The answer is one without a document.
    """
    if answer.alike:
        return f"{answer.missing}; did you mean {answer.alike}?"
    if target.name:
        return f"{answer.missing}; status {target.namespace} lists those there are"
    return f"{answer.missing}; status lists those there are, by their label {WORKLOAD_LABEL}"
