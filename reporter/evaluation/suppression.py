"""
Suppress what merely follows from an upstream that is out.

A source suppresses while it is out, also during its own hold, and stops once it has not been out for
the settle. A source that is Unknown keeps what it did before, for as long as its last Event lives. A
suppressed source still suppresses.

A cause precedes its effect: a finding goes on as it was if it existed before its source went out, or
if it states a cause of its own, such as out of memory. A missing CRD suppresses it all the same:
nobody can look at it any more.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue, CatalogueEntry, Scope, Suppression
from reporter.evaluation.clocks import (
    READ_BACK_WINDOW,
    ZERO,
    CauseClock,
    FindingState,
    TrackedFindings,
)
from reporter.kinds.core import NODES
from reporter.model.enums import Layer, Reason, SuppressionMode
from reporter.model.subjects import FindingKey, Subject
from reporter.model.times import EARLIEST_TIME
from reporter.model.verdicts import Trouble


# --------------------------------------------------------------------
# The order in which subjects are evaluated when a pass may be cut: suppressing layers first.


_PLACES = {layer: str(layer.order) for layer in Layer}


def upstream_first(subjects: frozenset[Subject]) -> list[Subject]:
    """
    Return the subjects sorted, layer by layer in the order of announcing.

    The catalogue refuses upward suppressions, so what may suppress a finding comes before it.
    """
    # By a text, in half the time of a tuple; no name has a character that comes before "\0".
    return sorted(subjects, key=lambda each: f"{_PLACES[each.layer]}{each.namespace}\0{each.name}")


def split_into_batches(subjects: Sequence[Subject], size: int) -> Iterator[Sequence[Subject]]:
    """
    Yield batches of at most *size* subjects; a namespace that fits into one is not divided.

    A pass may be cut between two batches. If that divided a namespace in which many InferenceSets
    fail at once, the first few would get Events of their own before a group can form.
    """
    batch: list[Subject] = []
    for _, same in groupby(subjects, key=lambda subject: (subject.layer, subject.namespace)):
        namespace = list(same)
        if batch and len(batch) + len(namespace) > size:
            yield batch
            batch = []
        batch += namespace
        while len(batch) > size:
            yield batch[:size]
            batch = batch[size:]
    if batch:
        yield batch


def with_upstream(urgent: frozenset[Subject], waiting: frozenset[Subject]) -> frozenset[Subject]:
    """
    Return the *urgent* subjects and, of the *waiting*, those whose findings may suppress theirs.
    """
    namespaces = {s.namespace for s in urgent}
    return urgent.union(
        s
        for s in waiting
        if s.layer is Layer.CLUSTER
        or (s.layer is Layer.MODELHARNESS and s.namespace in namespaces)
    )


class Outage(Struct, frozen=True):
    """
    A source that suppresses.

    *as_of*: the moment up to which *recovered_for* is accounted.
    *began_at*: when the source went out; EARLIEST_TIME if that is not known.
    *is_out*: the source was seen out at the moment *as_of*.
    *recovered_for*: how long the source was seen not to be out.
    *unknown_since*: since when the source could not be evaluated at that moment; None if it could.
    *nodes*: the Nodes that are out, as `lost_nodes` returns them.
    """

    as_of: datetime
    began_at: datetime = EARLIEST_TIME
    is_out: bool = True
    recovered_for: timedelta = ZERO
    unknown_since: datetime | None = None
    nodes: frozenset[str] | None = None

    @property
    def is_unknown(self) -> bool:
        """True while the source cannot be evaluated: it then suppresses what it did before."""
        return self.unknown_since is not None

    @property
    def forgotten_at(self) -> datetime | None:
        """
        The moment at which the last Event of an Unknown source is gone; None while it can be evaluated.
        """
        return self.unknown_since and self.unknown_since + READ_BACK_WINDOW

    @property
    def suppresses(self) -> bool:
        """True until the source has been Unknown for as long as its last Event lives."""
        return self.forgotten_at is None or self.as_of < self.forgotten_at


class Suppressions(Struct, frozen=True):
    """
    The sources that suppress, and what they suppress.

    *outages*: every source that is out, or was within the settle.
    *suppressed_by*: every suppressed key with its sources, sorted.
    *suppresses*: every root with all keys behind it. A root is the unsuppressed source at the end of
    a chain, the only one of the chain that is announced.
    """

    outages: Mapping[FindingKey, Outage]
    suppressed_by: Mapping[FindingKey, tuple[FindingKey, ...]]
    suppresses: Mapping[FindingKey, tuple[FindingKey, ...]] = field(default_factory=dict)

    def lifted(self, before: "Suppressions") -> frozenset[FindingKey]:
        """Return the keys that were suppressed and no longer are."""
        return frozenset(before.suppressed_by.keys() - self.suppressed_by.keys())

    def with_outages(self, outages: Mapping[FindingKey, Outage]) -> "Suppressions":
        """
        Return these suppressions, with further sources that were out.

        These also tell since when a source is out that this process did not see go out.
        """
        if not outages:
            return self
        known = {
            key: replace(each, began_at=_earlier(each.began_at, outages[key].began_at))
            for key, each in self.outages.items()
            if key in outages
        }
        return replace(self, outages={**outages, **self.outages, **known})


def _earlier(one: datetime, other: datetime) -> datetime:
    """Return the earlier one of the two that are known."""
    return min((each for each in (one, other) if each > EARLIEST_TIME), default=EARLIEST_TIME)


NO_SUPPRESSIONS = Suppressions({}, {})


def suppress(
    before: Suppressions,
    tracked: TrackedFindings,
    catalogue: Catalogue,
    *,
    now: datetime,
    settle: timedelta,
    mode: SuppressionMode = SuppressionMode.ON,
) -> Suppressions:
    """
    Return the suppressions after this pass, held and Unknown keys included.

    With *mode* off nothing is suppressed. What is out is known all the same: while the route of an
    InferenceSet is, it is not available.
    """
    outages = _update_outages(
        before.outages, tracked, now=now, settle=settle, sources=_source_reasons(catalogue)
    )
    if not outages or mode is SuppressionMode.OFF:
        return Suppressions(outages, {}) if outages else NO_SUPPRESSIONS
    index = _SourceIndex.build([s for s, each in outages.items() if each.suppresses], catalogue)
    suppressed_by = {}
    began_at = {source: each.began_at for source, each in outages.items()}
    for key in (*tracked.finding_states, *tracked.unknown_states):
        state = tracked.finding_states.get(key)
        sources = index.sources_of(key)
        if any(outages[each].nodes is not None for each in sources):
            sources = tuple(each for each in sources if _runs_on(state, outages[each].nodes))
        if sources and state is not None:
            sources = _explaining_sources(key, state, sources, began_at, catalogue)
        if sources:
            suppressed_by[key] = sources
    return Suppressions(outages, suppressed_by, _suppressed_by_root(suppressed_by))


class _SourceIndex(Struct, frozen=True):
    """
    The sources that suppress a reason, so that no key has to be compared with every source.

    *cache*: the answers so far. In an outage ten thousand keys share a few answers.
    """

    cluster_wide: Mapping[Reason, list[FindingKey]]
    by_namespace: Mapping[tuple[str, Reason], list[FindingKey]]
    cache: dict[tuple[str, Reason], tuple[FindingKey, ...]] = field(default_factory=dict)

    @classmethod
    def build(cls, sources: Iterable[FindingKey], catalogue: Catalogue) -> "_SourceIndex":
        cluster_wide: defaultdict[Reason, list[FindingKey]] = defaultdict(list)
        by_namespace: defaultdict[tuple[str, Reason], list[FindingKey]] = defaultdict(list)
        rows: defaultdict[Reason, list[Suppression]] = defaultdict(list)
        for row in catalogue.suppressions:
            if row.enabled:
                rows[row.source].append(row)
        for source in sources:
            for row in rows[source.reason]:
                if row.scope is Scope.CLUSTER:
                    cluster_wide[row.target].append(source)
                else:
                    by_namespace[source.subject.namespace, row.target].append(source)
            # A missing CRD has no rows: it suppresses every reason whose probe requires this CRD.
            if catalogue.is_missing_crd_enabled and source.reason == catalogue.missing_crd_reason:
                for target, required in catalogue.required_crds_by_reason.items():
                    if source.item in required:
                        cluster_wide[target].append(source)
        return cls(cluster_wide, by_namespace)

    def sources_of(self, key: FindingKey) -> tuple[FindingKey, ...]:
        """
        Return the sources of a key, sorted. A key is never its own: the loader refuses cycles.
        """
        place = (key.subject.namespace, key.reason)
        sources = self.cache.get(place)
        if sources is None:
            both = {*self.cluster_wide.get(key.reason, ()), *self.by_namespace.get(place, ())}
            sources = self.cache[place] = tuple(sorted(both))
        return sources


def _suppressed_by_root(
    suppressed_by: Mapping[FindingKey, tuple[FindingKey, ...]],
) -> Mapping[FindingKey, tuple[FindingKey, ...]]:
    roots: dict[tuple[FindingKey, ...], frozenset[FindingKey]] = {}
    suppressed: defaultdict[FindingKey, list[FindingKey]] = defaultdict(list)
    for key, sources in suppressed_by.items():
        if sources not in roots:
            roots[sources] = _find_roots(sources, suppressed_by)
        for root in roots[sources]:
            suppressed[root].append(key)
    return {root: tuple(keys) for root, keys in suppressed.items()}


def _find_roots(
    sources: tuple[FindingKey, ...], suppressed_by: Mapping[FindingKey, tuple[FindingKey, ...]]
) -> frozenset[FindingKey]:
    roots: set[FindingKey] = set()
    visited: set[FindingKey] = set()
    left = list(sources)
    while left:
        source = left.pop()
        if source not in visited:
            visited.add(source)
            upstream = suppressed_by.get(source, ())
            left += upstream
            if not upstream:
                roots.add(source)
    return frozenset(roots)


def next_suppression_deadline(suppressions: Suppressions, *, settle: timedelta) -> datetime | None:
    """Return the moment at which time alone lifts the next suppression; None without one."""
    outages = suppressions.outages.values()
    moments = [
        outage.as_of + settle - outage.recovered_for
        for outage in outages
        if not outage.is_out and not outage.is_unknown
    ]
    moments += [each.forgotten_at for each in outages if each.suppresses and each.forgotten_at]
    return min(moments, default=None)


def suppressible_reasons(catalogue: Catalogue, mode: SuppressionMode) -> frozenset[Reason]:
    """Return the reasons that an upstream suppresses while it is out."""
    if mode is SuppressionMode.OFF:
        return frozenset()
    reasons = {row.target for row in catalogue.suppressions if row.enabled}
    if catalogue.is_missing_crd_enabled and catalogue.missing_crd_reason:
        reasons.update(each for each, crds in catalogue.required_crds_by_reason.items() if crds)
    return frozenset(reasons)


def _source_reasons(catalogue: Catalogue) -> frozenset[str]:
    reasons = {row.source for row in catalogue.suppressions}
    if catalogue.missing_crd_reason:
        reasons.add(catalogue.missing_crd_reason)
    return frozenset(reasons)


def _update_outages(
    before: Mapping[FindingKey, Outage],
    tracked: TrackedFindings,
    *,
    now: datetime,
    settle: timedelta,
    sources: frozenset[str],
) -> Mapping[FindingKey, Outage]:
    # A held source suppresses as well: otherwise its consequences, whose holds may be shorter,
    # would be announced before their cause.
    after = {
        key: _current_outage(before.get(key), state, now=now)
        for key, state in tracked.finding_states.items()
        if key.reason in sources and any(trouble.is_out for trouble in state.troubles)
    }
    for key, outage in before.items():
        if key not in after:
            advanced = _advance_outage(outage, unknown_since=_unknown_since(tracked, key), now=now)
            if advanced.recovered_for < settle:
                after[key] = advanced
    return after


def _current_outage(before: Outage | None, state: FindingState, *, now: datetime) -> Outage:
    """Return the outage of a source that is out, or was when it became Unknown."""
    since = [clock.out_since for clock in state.clocks if clock.out_since is not None]
    began_at = min(since if before is None else [*since, before.began_at], default=now)
    return Outage(
        now, began_at, unknown_since=state.unknown_since, nodes=lost_nodes(state.troubles)
    )


def _unknown_since(tracked: TrackedFindings, key: FindingKey) -> datetime | None:
    state = tracked.finding_states.get(key) or tracked.unknown_states.get(key)
    if state is None or isinstance(state, FindingState):
        return state and state.unknown_since
    return state.since


def _advance_outage(outage: Outage, *, unknown_since: datetime | None, now: datetime) -> Outage:
    """
    Advance an outage whose source is not seen out at *now*.

    Only time between two passes that both saw the source not out counts as recovery.
    """
    recovering = not outage.is_out and not outage.is_unknown
    elapsed = max(now - outage.as_of, ZERO) if recovering else ZERO
    after = replace(
        outage,
        as_of=now,
        recovered_for=outage.recovered_for + elapsed,
        unknown_since=unknown_since,
    )
    return after if after.is_unknown else replace(after, is_out=False)


# ---------------------------------------------------------------- which sources explain a finding


SEEN_TOGETHER = timedelta(seconds=5)
"""The time within which two watches may show a cause and its effect in the wrong order."""


def _explaining_sources(
    key: FindingKey,
    state: FindingState,
    sources: tuple[FindingKey, ...],
    began_at: Mapping[FindingKey, datetime],
    catalogue: Catalogue,
) -> tuple[FindingKey, ...]:
    """Return those of the *sources*, which are out since *began_at*, that explain a finding."""
    entry, clocks = catalogue[key.reason], state.shown_clocks
    is_own = bool(entry.own_causes) and any(_is_own_cause(entry, clock) for clock in clocks)
    found = min([each.found_at for each in clocks if each.found_at is not None], default=None)
    explaining = [
        each
        for each in sources
        if each.reason == catalogue.missing_crd_reason
        or not (is_own or (found is not None and found + SEEN_TOGETHER < began_at[each]))
    ]
    return sources if len(explaining) == len(sources) else tuple(explaining)


def _is_own_cause(entry: CatalogueEntry, clock: CauseClock) -> bool:
    code = clock.trouble.cause.code  # or ``<extent>.<cause>``
    return code in entry.own_causes or code.partition(".")[2] in entry.own_causes


def lost_nodes(troubles: Iterable[Trouble]) -> frozenset[str] | None:
    """
    Return the lost Nodes that a finding is about; empty if it does not tell which.

    None if it is about something else. A workload that runs on lost Nodes is about itself.
    """
    about = [each for each in troubles if each.cause.object.resource == NODES.group_resource]
    return frozenset[str]().union(*(each.nodes for each in about)) if about else None


def _runs_on(state: FindingState | None, nodes: frozenset[str] | None) -> bool:
    """
    Return whether all of a finding is explained by these Nodes; true if there is no question of any.
    """
    if nodes is None:
        return True
    troubles = state.troubles if state is not None else ()
    return bool(troubles) and all(
        each.nodes and (not nodes or each.nodes <= nodes) for each in troubles
    )
