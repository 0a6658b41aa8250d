"""The rows and details of clusters, as a hub answers about them."""

from collections.abc import Iterator, Sequence

from reporter.model.fleet_status import ClusterEntry, FleetBlocking, FleetDocument
from reporter.model.states import State
from reporter.model.status_document import Counts, Unobserved
from reporter.status.detail_table import describe_replicas, field
from reporter.status.table import NOTHING, format_age, paint


HEAD = ("NAME", "STATE", "SETS", "READY", "UNKNOWN", "FOR", "BLOCKED BY", "ACTS")
WIDE_HEAD = ("LAST KNOWN", "VERSION", "REVISIONS", "LAST UPDATE", "SKEW", "UID")
AGE_COLUMNS = frozenset({"FOR", "LAST UPDATE", "SKEW"})


def fleet_head(*, wide: bool) -> Sequence[str]:
    """Return the column headers for the rows of *fleet_rows*; *wide* adds those of ``-o wide``."""
    return (*HEAD, *WIDE_HEAD) if wide else HEAD


def fleet_rows(document: FleetDocument, *, wide: bool) -> Iterator[tuple[str, ...]]:
    """Yield a row of cells for each cluster of the answer, in its order; unknown cells are "-"."""
    for each in document.clusters:
        cells = (
            each.name,
            each.state.word,
            _sets(each.inference_sets),
            _ready(each),
            _unobserved(each.unobserved),
            format_age(each.in_state_seconds),
            _name_of(each.blocking) if each.blocking is not None else NOTHING,
            each.blocking.actionability if each.blocking is not None else NOTHING,
        )
        yield (*cells, *_wide_cells(each)) if wide else cells


def _wide_cells(each: ClusterEntry) -> tuple[str, ...]:
    revisions = sorted({f"{package.name} {package.revision}" for package in each.packages})
    last_update = each.last_update_age_seconds
    skew = each.skew_seconds
    return (
        each.last_known.word if each.last_known is not None else NOTHING,
        each.version,
        ", ".join(revisions),
        NOTHING if last_update is None else format_age(last_update),
        NOTHING if skew is None else f"{skew:+.0f}s",
        each.uid,
    )


def _sets(counts: Counts | None) -> str:
    """Return how many of the InferenceSets are Ready."""
    if counts is None:
        return NOTHING
    every = sum(counts.by_state().values())
    return f"{counts.current}/{every}" if every else NOTHING


def _unobserved(found: Unobserved | None) -> str:
    """Return what is not known below the control plane, in a few words; the details have more."""
    if found is None:
        return "?"
    cells = (
        (found.namespaces, "ns", "ns"),
        (found.inference_sets, "set", "sets"),
        (len(found.missing_rights), "right", "rights"),
    )
    texts = [f"{number} {one if number == 1 else more}" for number, one, more in cells if number]
    return ", ".join(texts + ["unlisted"] * found.unlisted) or NOTHING


def _ready(each: ClusterEntry) -> str:
    replicas = each.replicas
    if replicas is None:
        return NOTHING
    return f"{NOTHING if replicas.ready is None else replicas.ready}/{replicas.desired}"


def _name_of(blocking: FleetBlocking) -> str:
    return blocking.reason or blocking.code


def render_cluster(each: ClusterEntry, *, colour: bool) -> Iterator[str]:
    """
    Yield the lines of one cluster at length: state, cause, clock, replicas, packages and namespaces.

    The hub leaves out namespaces beyond a limit; the last line then has their number.
    """
    yield field("Cluster", each.name)
    if each.label != each.name:
        yield field("Label", each.label)
    state = paint(each.state.word, colour=colour)
    if each.last_known is not None:
        state += f" (last known: {each.last_known.word})"
    yield field("State", f"{state} for {format_age(each.in_state_seconds)}", is_safe=True)
    if each.blocking is not None:
        yield from _blocking(each.blocking)
    yield field("UID", ", ".join(each.other_uids) or each.uid or NOTHING)
    yield field("Version", each.version or NOTHING)
    if each.last_update_age_seconds is not None:
        yield field("Last update", f"{format_age(each.last_update_age_seconds)} ago")
    if each.skewed and each.skew_seconds is not None:
        yield field("Clock", f"seems {each.skew_seconds:+.0f} s ahead; this decides nothing")
    yield field("InferenceSets", f"{_sets(each.inference_sets)} {State.CURRENT.word}")
    yield field("Replicas", describe_replicas(each.replicas))
    unobserved = "not reported" if each.unobserved is None else each.unobserved.describe()
    if unobserved:
        yield field("Not known", unobserved)
    for package in each.packages:
        text = f"{package.name} {package.revision}: {package.namespaces} {package.state.word}"
        yield field("Package", text)
    for namespace in each.namespaces:
        cause = f": {_name_of(namespace.blocking)}" if namespace.blocking is not None else ""
        yield field("Namespace", f"{namespace.name} {namespace.state.word}{cause}")
    left = each.namespace_count - len(each.namespaces)
    if left:
        yield field("Namespace", f"and {left} more")


def _blocking(blocking: FleetBlocking) -> Iterator[str]:
    code = f" ({blocking.code})" if blocking.reason and blocking.code else ""
    yield field("Blocked by", _name_of(blocking) + code)
    stalled = " (stalled)" if blocking.stalled else ""
    if blocking.actionability:
        yield field("Acts", blocking.actionability + stalled)
    if blocking.silenced_until is not None:
        yield field("Silenced", f"until {blocking.silenced_until:%Y-%m-%d %H:%M:%S} UTC")
    if blocking.message:
        yield field("Message", blocking.message)
    if blocking.remedy:
        yield field("Remedy", blocking.remedy)


def describe_fleet_gaps(document: FleetDocument) -> Iterator[str]:
    """Yield a note for each explanation why clusters or parts of them are missing."""
    fleet = document.fleet
    if fleet.why:
        yield f"not all is known of the clusters: {fleet.why}"
    for query in fleet.queries:
        if query.why:
            yield f"the query {query.query} has no complete answer ({query.result}): {query.why}"
    for each in fleet.dropped:
        yield f"{each.series} series are left out ({each.why}): {', '.join(each.names)}"
