"""The rows of the status: one for each subject."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from reporter.model.rollup.status import (
    Blocking,
    ClusterStatus,
    HarnessStatus,
    InferenceSetStatus,
    NamespaceStatus,
    Replicas,
    StatusDocument,
)
from reporter.model.text.times import format_time
from reporter.sinks.tables.ages import format_age
from reporter.sinks.tables.table import NOTHING


CLUSTER_NAME = "cluster"
POINTER = "↳ "

COLUMNS = ("STATE", "READY", "UPDATED", "FOR", "BLOCKED BY", "ACTS")
WIDE_COLUMNS = ("AVAILABLE", "STALLED", "SINCE", "CODE", "OBJECT")
AGE_COLUMN = "FOR"

AnySubject: TypeAlias = NamespaceStatus | InferenceSetStatus | ClusterStatus | HarnessStatus


def describe_blocking(blocking: Blocking) -> str:
    """Return the reason, or the code where no reason is the cause; a pointer is marked."""
    return (POINTER if blocking.pointer else "") + (blocking.reason or blocking.code)


def subject_cells(subject: AnySubject, *, wide: bool) -> tuple[str, ...]:
    blocking = subject.blocking
    replicas = getattr(subject, "replicas", None)
    cells = (
        subject.state,
        *_progress(replicas),
        format_age(blocking.in_state_seconds) if blocking is not None else NOTHING,
        describe_blocking(blocking) if blocking is not None else NOTHING,
        blocking.actionability if blocking is not None else NOTHING,
    )
    return (*cells, *_wide_cells(subject)) if wide else cells


def _progress(replicas: Replicas | None) -> tuple[str, str]:
    if replicas is None:
        return NOTHING, NOTHING
    return tuple(  # type: ignore[return-value]
        f"{NOTHING if number is None else number}/{replicas.desired}"
        for number in (replicas.ready, replicas.updated)
    )


def _wide_cells(subject: AnySubject) -> tuple[str, ...]:
    blocking = subject.blocking
    available = {True: "yes", False: "no", None: NOTHING}[getattr(subject, "available", None)]
    if blocking is None:
        return (available, NOTHING, NOTHING, NOTHING, NOTHING)
    since = format_time(blocking.since) if blocking.since is not None else ""
    return (available, "yes" if blocking.stalled else "no", since, blocking.code, blocking.object)


def overview_rows(document: StatusDocument, *, wide: bool) -> Iterator[tuple[str, ...]]:
    """Yield the control plane and each namespace."""
    if document.cluster is not None:
        yield (CLUSTER_NAME, *subject_cells(document.cluster, wide=wide))
    for each in document.namespaces:
        yield (each.name, *subject_cells(each, wide=wide))


def set_rows(document: StatusDocument, *, wide: bool) -> Iterator[tuple[str, ...]]:
    """Yield the InferenceSets of all namespaces."""
    for namespace in document.namespaces:
        for each in namespace.inference_sets:
            yield (namespace.name, each.name, *subject_cells(each, wide=wide))


def namespace_rows(namespace: NamespaceStatus, *, wide: bool) -> Iterator[tuple[str, ...]]:
    """Yield a namespace, its harness and its InferenceSets, each with its kind."""
    yield ("Namespace", namespace.name, *subject_cells(namespace, wide=wide))
    if namespace.harness is not None:
        yield ("Harness", namespace.name, *subject_cells(namespace.harness, wide=wide))
    for each in namespace.inference_sets:
        kind, _, name = each.name.rpartition("/")
        yield (kind or "InferenceSet", name, *subject_cells(each, wide=wide))


def cluster_rows(cluster: ClusterStatus, *, wide: bool) -> Iterator[tuple[str, ...]]:
    """Yield the control plane and its Deployments."""
    yield ("Cluster", CLUSTER_NAME, *subject_cells(cluster, wide=wide))
    empty = (NOTHING,) * (3 + (len(WIDE_COLUMNS) if wide else 0))
    for each in cluster.components:
        cells = (each.state, *_progress(each.replicas), *empty)
        yield ("Deployment", f"{each.namespace}/{each.name}", *cells)


def head(*names: str, wide: bool) -> Sequence[str]:
    return (*names, *COLUMNS, *(WIDE_COLUMNS if wide else ()))
