"""
The availability of a subject: whether a request can reach it and be answered, as far as is known.

The rows ``on-path-of`` of the catalogue tell which findings lie on the path of whose requests.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from reporter.catalogue.entries import CatalogueEntry, PathRow
from reporter.evaluation.clocks import CauseClock
from reporter.evaluation.evaluation import Evaluation
from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.gateway_api import GATEWAYS, HTTP_ROUTES, Gateway, route_affects
from reporter.kinds.istio import ENVOY_FILTERS, EnvoyFilter
from reporter.kinds.objects import GATEWAY_NAME_LABEL, NamespacedName, namespace_key
from reporter.model.enums import Layer
from reporter.model.states import Actionability
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import ObjectRef
from reporter.resources.authorization import (
    called_services,
    find_provider_policies,
    why_policies_unread,
)
from reporter.resources.gateways import routes_of_gateway
from reporter.resources.routes import find_routes, gateway_parents
from reporter.rollup.blockers import LAST_SEEN, UNKNOWN, BlockerFinder
from reporter.rollup.findings import is_last_seen
from reporter.rollup.records import Unavailability
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.snapshot.lookups import why_incomplete
from reporter.snapshot.snapshot import Snapshot


FILTERS_UNREAD = (
    "It is not well, and whether a filter or policy of the namespace calls it is not known."
)


NO_OBJECTS: frozenset[ObjectRef] = frozenset()

NOT_EVALUATED = "GatewayNotEvaluated"
"""The code of a Gateway in a namespace of which no reason is evaluated."""


class PathFinding(NamedTuple):
    """A finding on the path of some subjects' requests, with the row that says so."""

    key: FindingKey
    row: PathRow


class PathFinder:
    """Finds what is out, or Unknown, on the path of requests; for the subjects of one fold."""

    def __init__(self, given: RollUpInput, rules: RollUpRules, blockers: BlockerFinder) -> None:
        self._given, self._rules, self._blockers = given, rules, blockers
        self._by_place: defaultdict[tuple[str, Subject | str], list[PathFinding]] = defaultdict(
            list
        )
        for each in path_findings(given.evaluation, rules):
            self._by_place[each.row.subject_kind, _place_of(each, rules)].append(each)
        self._found: dict[
            tuple[PathFinding, str, NamespacedName | None], Unavailability | None
        ] = {}

    def find(self, subject: Subject, gateways: Iterable[NamespacedName]) -> Unavailability | None:
        """
        Return the most important cause on the path of a subject: what is out before what is Unknown.

        None if nothing is known to hinder its requests. *gateways*: through which it is reached, of which
        one that works suffices; none while they are not known.
        """
        through = [self._find_through(subject, each) for each in gateways]
        if not through:
            return self._find_through(subject, None)
        found = [each for each in through if each is not None]
        return min(found, key=lambda each: each.is_known) if len(found) == len(through) else None

    def _find_through(
        self, subject: Subject, gateway: NamespacedName | None
    ) -> Unavailability | None:
        namespace = subject.namespace if gateway is None else gateway[0]
        places: tuple[Subject | str, ...] = ("", namespace, subject)
        found = [
            (self._order(each, cause), cause)
            for place in places
            for each in self._by_place.get((subject.kind, place), ())
            if (cause := self._cause(each, namespace, gateway)) is not None
        ]
        first = min(found, key=lambda each: each[0])[1] if found else None
        if gateway is None or namespace == subject.namespace or (first and first.is_known):
            return first
        return self._not_evaluated(gateway) or first

    def _not_evaluated(self, gateway: NamespacedName) -> Unavailability | None:
        """Return that nobody evaluates a Gateway of another namespace; None if a reason does."""
        namespace, name = gateway
        known, harness = (
            self._given.evaluation.known_subjects,
            Subject(Layer.MODELHARNESS, namespace),
        )
        if harness in known.all or not self._rules.evaluates_gateways:
            return None
        is_read = namespace == self._given.snapshot.only_in.get(GATEWAYS.table, namespace)
        why = f"namespace {namespace} has not the label of a workload namespace"
        why = known.why_not_all_known(harness) or (why if is_read else f"{namespace} is not read")
        return Unavailability(
            code=NOT_EVALUATED,
            layer=Layer.MODELHARNESS,
            actionability=Actionability.PLATFORM,
            is_known=False,
            object=GATEWAYS.ref(namespace, name),
            why=f"Its Gateway {namespace}/{name} is not evaluated: {why}.",
        )

    def _order(self, finding: PathFinding, cause: Unavailability) -> tuple[object, ...]:
        """Order by what is known, a check last, what is silenced after the rest, and then upstream first."""
        key = finding.key
        is_silenced = self._given.evaluation.silence_of(key) is not None
        rank = self._rules.entry(key).rank
        place = (key.subject.layer.order, rank or 0, key)
        return (not cause.is_known, rank is None, is_silenced, *place)

    def _cause(
        self, finding: PathFinding, namespace: str, gateway: NamespacedName | None
    ) -> Unavailability | None:
        # A row that depends on the namespace has another answer in each.
        place = (finding, namespace if finding.row.where_called else "", gateway)
        if place not in self._found:
            self._found[place] = self._make_cause(finding, namespace, gateway)
        return self._found[place]

    def _make_cause(
        self, finding: PathFinding, namespace: str, gateway: NamespacedName | None
    ) -> Unavailability | None:
        key, row = finding
        tracked = self._given.evaluation.tracked
        state, unknown = tracked.finding_states.get(key), tracked.unknown_states.get(key)
        # A check is evidence and no part of the path: one without a result says nothing. Nor does what
        # needs a metrics page of which none is known. What reads objects of a CRD tells of their watch.
        is_part = not self._rules.entry(key).orthogonal
        is_part = is_part and key.reason != self._rules.catalogue.missing_crd_reason
        called, may_call = self._called_in(namespace) if row.where_called else (NO_OBJECTS, True)
        is_part = is_part and (may_call or bool(called))
        if state is None:
            is_silent = unknown is None or not is_part or self._rules.reads_pages(key)
            return None if is_silent else self._unknown(key, unknown.why if unknown else "")
        if state.why_unknown or is_last_seen(state):
            return self._unknown(key, state.why_unknown or LAST_SEEN) if is_part else None
        clocks = [
            each
            for each in state.clocks
            if each.active
            and not _is_excepted(each, row)
            and not self._is_of_another_gateway(each.object, gateway)
        ]
        found = len(clocks)
        if row.where_called:
            clocks = [each for each in clocks if each.object in called]
        out = [each for each in clocks if each.trouble.is_out and not each.stopped]
        if out:
            return self._out(key, out, held=not state.announceable)
        if row.where_called and may_call and len(clocks) < found:
            return self._unknown(key, FILTERS_UNREAD)
        doubtful = [each for each in clocks if is_part and _is_doubtful(each)]
        return self._of_troubles(key, doubtful, is_known=False) if doubtful else None

    def _is_of_another_gateway(self, ref: ObjectRef, gateway: NamespacedName | None) -> bool:
        """Return whether an object is, or belongs to, another Gateway."""
        if gateway is None:
            return False
        name = ref.name if ref.resource == GATEWAYS.group_resource else ""
        if ref.resource == DEPLOYMENTS.group_resource:
            found = self._given.snapshot.get(DEPLOYMENTS, Deployment, ref.namespace, ref.name)
            name = found.metadata.label(GATEWAY_NAME_LABEL) if found is not None else ""
        return bool(name) and (ref.namespace, name) != gateway

    def _called_in(self, namespace: str) -> tuple[frozenset[ObjectRef], bool]:
        """
        Return the Deployments behind the Services that filters call, and whether others may be called.

        Services of the stack have the names of their Deployments. A policy with a provider calls one whose
        name is in MeshConfig.
        """
        snapshot, now = self._given.snapshot, self._given.now
        if ENVOY_FILTERS.table not in snapshot.tables:
            return NO_OBJECTS, True
        if why_incomplete(snapshot, ENVOY_FILTERS, namespace, now=now):
            return NO_OBJECTS, True
        filters = snapshot.by_index(ENVOY_FILTERS, EnvoyFilter, namespace_key(namespace))
        services = chain.from_iterable(map(called_services, filters))
        called = frozenset(DEPLOYMENTS.ref(each.namespace, each.name) for each in services)
        unread = why_policies_unread(snapshot, namespace, now=now)
        return called, bool(unread or find_provider_policies(snapshot, namespace))

    def _unknown(self, key: FindingKey, why: str) -> Unavailability:
        return Unavailability(
            code=UNKNOWN,
            layer=key.subject.layer,
            actionability=self._owner(key),
            is_known=False,
            key=key,
            why=why,
        )

    def _out(self, key: FindingKey, clocks: Iterable[CauseClock], *, held: bool) -> Unavailability:
        if key in self._given.evaluation.suppressions.suppressed_by:
            root = self._blockers.find(key)
            cause = Unavailability.of(root, is_known=True)
            return replace(cause, actionability=self._owner(root.key or key))
        return self._of_troubles(key, clocks, is_known=True, held=held)

    def _of_troubles(
        self, key: FindingKey, clocks: Iterable[CauseClock], *, is_known: bool, held: bool = False
    ) -> Unavailability:
        troubles = tuple(each.trouble for each in clocks)
        cause = min(each.cause for each in troubles)
        return Unavailability(
            code=cause.code,
            layer=key.subject.layer,
            actionability=self._owner(key),
            is_known=is_known,
            key=key,
            object=cause.object,
            held=held,
            troubles=troubles,
        )

    def _owner(self, key: FindingKey) -> Actionability:
        return Actionability.of_owner(self._rules.entry(key).owner)


def path_findings(evaluation: Evaluation, rules: RollUpRules) -> Iterator[PathFinding]:
    """Yield the findings that lie on the path of any subject, whatever their state."""
    rows = rules.path_rows
    tracked = evaluation.tracked
    for key in chain(tracked.finding_states, tracked.unknown_states):
        for row in rows.get(key.reason, ()):
            yield PathFinding(key, row)


def gateways_of(snapshot: Snapshot, subject: Subject) -> tuple[NamespacedName, ...]:
    """Return the Gateways that the routes of a subject name; none while no route is known."""
    if subject.kind or HTTP_ROUTES.table not in snapshot.tables:
        return ()
    parents = {
        (parent.namespace or route.metadata.namespace, parent.name)
        for route in find_routes(snapshot, subject)
        for parent in gateway_parents(route)
    }
    return tuple(sorted(parents))


def subjects_through(
    snapshot: Snapshot, namespaces: Iterable[str], subjects: Collection[Subject]
) -> Iterator[Subject]:
    """
    Yield those of *subjects* that are reached through a Gateway in one of *namespaces*, not their own.
    """
    if GATEWAYS.table not in snapshot.tables or HTTP_ROUTES.table not in snapshot.tables:
        return
    for namespace in namespaces:
        for gateway in snapshot.by_index(GATEWAYS, Gateway, namespace_key(namespace)):
            for route in routes_of_gateway(snapshot, gateway):
                if route.metadata.namespace != namespace:
                    yield from (each for each in route_affects(route) if each in subjects)


def hindered_subjects(
    keys: Iterable[FindingKey],
    subjects: Collection[Subject],
    rules: RollUpRules,
    snapshot: Snapshot,
) -> Iterator[Subject]:
    """
    Yield those of *subjects* whose requests one of *keys* may hinder: it is on the path of the requests.

    Keys of the layer modeldeployment are left out, as they hinder their own subject alone.
    """
    rows = rules.path_rows
    places = {
        (row.subject_kind, _place_of(PathFinding(key, row), rules))
        for key in keys
        if key.subject.layer is not Layer.MODELDEPLOYMENT
        for row in rows.get(key.reason, ())
    }
    if places:
        for each in subjects:
            if (each.kind, "") in places or (each.kind, each.namespace) in places:
                yield each
        namespaces = {place for kind, place in places if not kind and isinstance(place, str)}
        yield from subjects_through(snapshot, namespaces - {""}, subjects)


def _place_of(finding: PathFinding, rules: RollUpRules) -> Subject | str:
    """Return where the subjects are that a finding hinders: everywhere, in a namespace, or itself."""
    subject, entry = finding.key.subject, rules.entry(finding.key)
    if subject.layer is Layer.CLUSTER:
        return ""
    if subject.layer is Layer.MODELHARNESS and not _is_of_itself(entry, finding.row):
        return subject.namespace
    return subject


def _is_of_itself(entry: CatalogueEntry, row: PathRow) -> bool:
    return bool(entry.subject_kind) and entry.subject_kind == row.subject_kind


def _is_excepted(clock: CauseClock, row: PathRow) -> bool:
    cause = clock.trouble.cause
    words = {cause.code, cause.code.partition(".")[2], cause.object.name}
    is_other = bool(row.only) and row.only.isdisjoint(words)
    return is_other or not row.exceptions.isdisjoint(words)


def _is_doubtful(clock: CauseClock) -> bool:
    """Return whether the path may be out: its object cannot be evaluated, or was never seen."""
    trouble = clock.trouble
    is_missing = not trouble.is_out and trouble.object_created_at is None
    return clock.stopped or is_missing
