"""
All that was observed, kept by the edges and read by passes through an immutable view.

Decides nothing: a change refreshes what is kept and marks the subjects that it touches.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime

from reporter.model.enums import Reason
from reporter.model.kinds.kaito import Workspace
from reporter.model.kinds.node_claims import NodeClaim
from reporter.model.kinds.objects import ApiObject, Condition, Pod
from reporter.model.kinds.resource_kinds import PODS, WORKSPACES, ResourceKind
from reporter.model.observations import CRDPresence, DiscoveryResult, WatchState
from reporter.model.samples import ContainerRun, FailedScrape, ScrapedMetrics
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.stages.resources.kaito.node_claims import find_claim_error
from reporter.stages.resources.kaito.nodes import last_workspace_error
from reporter.stages.snapshot.cow_map import CowMap
from reporter.stages.snapshot.snapshot import NamespacedName, Snapshot
from reporter.stages.snapshot.subjects import ALL_LAYERS, affected_subjects
from reporter.stages.store.crd_presence import mark_discovery_failed, update_presence
from reporter.stages.store.samples import SampleStore
from reporter.stages.store.table import Table


BATCH_SIZE = 500
"""
Objects of a list that are taken in one go: some ten milliseconds.
"""


class Store:
    """
    What the edges write to and passes take views of.

    *crds*: the resources (``resource.group``) whose presence is followed. *scrapes*: keeps what the
    pages of pods said.
    """

    def __init__(
        self,
        kinds: Iterable[ResourceKind],
        crds: Iterable[str] = (),
        scrapes: SampleStore | None = None,
    ) -> None:
        self.kinds = tuple(kinds)
        self._tables = {kind.resource: Table(kind) for kind in self.kinds}
        self._presences = {crd: CRDPresence() for crd in crds}
        self._samples = scrapes or SampleStore({})
        self._provisioning_errors: CowMap[NamespacedName, Condition] = CowMap()
        self._undecodable: set[ObjectRef] = set()
        self._deleted_uids: dict[ObjectRef, str] | None = None
        self._dirty: set[Subject] = set()
        self._on_change: Callable[[], None] = lambda: None

    def subscribe(self, changed: Callable[[], None]) -> None:
        """
        Call this after each change from now on; it must be quick.
        """
        self._on_change = changed

    def replace(
        self,
        kind: ResourceKind,
        objects: Iterable[ApiObject],
        unread: Collection[NamespacedName] = (),
    ) -> None:
        """
        Take a complete list: what is not in it is gone. *unread* are in it, but could not be read.
        """
        for _ in self.replace_in_batches(kind, objects, unread):
            pass

    def replace_in_batches(
        self,
        kind: ResourceKind,
        objects: Iterable[ApiObject],
        unread: Collection[NamespacedName] = (),
    ) -> Iterator[None]:
        """
        The same, yielding where others may have their turn; what is new comes before what is gone.
        """
        kept = self._tables[kind.resource]
        spoilt = {
            (r.namespace, r.name) for r in self._undecodable if r.resource == kind.group_resource
        }
        gone = {*kept.objects.keys(), *spoilt} - set(unread)
        for number, each in enumerate(objects, start=1):
            gone.discard((each.metadata.namespace, each.metadata.name))
            self.upsert(kind, each)
            if not number % BATCH_SIZE:
                yield
        for number, (namespace, name) in enumerate(gone, start=1):
            self.delete(kind, namespace, name)
            if not number % BATCH_SIZE:
                yield
        for namespace, name in unread:
            self.mark_undecodable(kind, namespace, name)

    def upsert(self, kind: ResourceKind, new: ApiObject) -> None:
        meta = new.metadata
        ref = ObjectRef(kind.group_resource, meta.namespace, meta.name)
        kept = self._tables[kind.resource]
        if kept.deleted_uids.pop(ref, None) is not None:
            self._deleted_uids = None
        healed = ref in self._undecodable
        self._undecodable.discard(ref)
        old = kept.objects.get((meta.namespace, meta.name))
        if isinstance(new, Pod):
            self._samples.forget_if_outdated(new)
        if isinstance(new, Workspace):
            self._track_workspace_error(new)
        if isinstance(new, NodeClaim):
            self._record_claim_error(new)
        if kept.upsert((meta.namespace, meta.name), new) or healed:
            self._mark_dirty(
                affected_subjects(kind, new),
                affected_subjects(kind, old) if old is not None else (),
            )

    def delete(self, kind: ResourceKind, namespace: str, name: str) -> None:
        kept = self._tables[kind.resource]
        old = kept.delete((namespace, name))
        ref = ObjectRef(kind.group_resource, namespace, name)
        if old is None and ref not in self._undecodable:
            return
        self._undecodable.discard(ref)
        if isinstance(old, Pod):
            self._samples.forget(namespace, name)
        if isinstance(old, Workspace):
            self._provisioning_errors.pop((namespace, name))
        if kept.record_deletion((namespace, name), old.metadata.uid if old is not None else ""):
            self._deleted_uids = None
        self._mark_dirty(affected_subjects(kind, old) if old is not None else ALL_LAYERS)

    def _track_workspace_error(self, workspace: Workspace) -> None:
        name = (workspace.metadata.namespace, workspace.metadata.name)
        before = self._provisioning_errors.get(name)
        after = last_workspace_error(before, workspace)
        if after is None and before is not None:
            self._provisioning_errors.pop(name)
        elif after is not None and after != before:
            self._provisioning_errors[name] = after

    def _record_claim_error(self, claim: NodeClaim) -> None:
        """
        Remember its error as its Workspace's: it may be deleted before that tells of it.
        """
        error = find_claim_error(claim)
        known = self._tables.get(WORKSPACES.resource)
        if error is not None and known and known.objects.get(claim.workspace) is not None:
            self._provisioning_errors[claim.workspace] = error

    def mark_undecodable(self, kind: ResourceKind, namespace: str, name: str) -> None:
        """
        Keep the old version, marked: its newest one could not be read.
        """
        ref = ObjectRef(kind.group_resource, namespace, name)
        if ref not in self._undecodable:
            self._undecodable.add(ref)
            self._mark_dirty(ALL_LAYERS)

    def set_watch_state(self, kind: ResourceKind, sight: WatchState) -> None:
        if self._tables[kind.resource].watch_state != sight:
            self._tables[kind.resource].watch_state = sight
            self._mark_dirty(ALL_LAYERS)

    def record_discovery(
        self, answer: DiscoveryResult | None, why: str = "", *, now: datetime
    ) -> None:
        """
        Take an answer of discovery, or None and why there was none.
        """
        after = {
            crd: mark_discovery_failed(before, why)
            if answer is None
            else update_presence(before, answer, crd, now=now)
            for crd, before in self._presences.items()
        }
        if after != self._presences:
            self._presences = after
            self._mark_dirty(ALL_LAYERS)

    def get_pod(self, namespace: str, name: str) -> Pod | None:
        found = self._tables[PODS.resource].objects.get((namespace, name))
        return found if isinstance(found, Pod) else None

    def record_scrape(self, pod: Pod, reason: Reason, scrape: ScrapedMetrics) -> None:
        """
        Add samples that this reason's probe asked for; *pod* is as it was before the request.
        """
        if self._is_current(pod, reason) and self._samples.record_scrape(pod, reason, scrape):
            self._mark_dirty(affected_subjects(PODS, pod))

    def record_scrape_failure(self, pod: Pod, reason: Reason, failure: FailedScrape) -> None:
        if self._is_current(pod, reason) and self._samples.record_scrape_failure(
            pod, reason, failure
        ):
            self._mark_dirty(affected_subjects(PODS, pod))

    def _is_current(self, pod: Pod, reason: Reason) -> bool:
        """
        Return whether the pod has not restarted since, and this reason's scrape still selects it.
        """
        now = self.get_pod(pod.metadata.namespace, pod.metadata.name)
        return (
            now is not None
            and self._samples.is_selected(now, reason)
            and ContainerRun.of_pod(now) == ContainerRun.of_pod(pod)
        )

    def served_version(self, kind: ResourceKind) -> str | None:
        """
        The version to read a kind in; None while that is not known or none fits.
        """
        if kind.group_resource not in self._presences:
            return kind.versions[0]
        versions = self._presences[kind.group_resource].versions or ()
        return next((v for v in kind.versions if v in versions), None)

    @property
    def watch_states(self) -> tuple[WatchState, ...]:
        """
        How well each kind is seen. A view would tell it too, after which every write copies.
        """
        return tuple(kept.watch_state for kept in self._tables.values())

    @property
    def has_unconfirmed_loss(self) -> bool:
        """
        Whether a loss still needs its second answer.
        """
        return any(p.missing_since is not None for p in self._presences.values())

    def snapshot(self) -> Snapshot:
        return Snapshot(
            tables={resource: kept.snapshot() for resource, kept in self._tables.items()},
            presences=dict(self._presences),
            deleted_uids=self._collect_deleted_uids(),
            undecodable=frozenset(self._undecodable),
            scrape_histories=self._samples.snapshot(),
            provisioning_errors=self._provisioning_errors.freeze(),
        )

    def _collect_deleted_uids(self) -> dict[ObjectRef, str]:
        """
        Put together anew only after a change: a pass over one subject must not pay for thousands.
        """
        if self._deleted_uids is None:
            kept = self._tables.values()
            self._deleted_uids = {
                ref: uid for each in kept for ref, uid in each.deleted_uids.items()
            }
        return self._deleted_uids

    def take_dirty(self) -> frozenset[Subject]:
        """
        The subjects touched since the last call.
        """
        dirty = frozenset(self._dirty)
        self._dirty.clear()
        return dirty

    def _mark_dirty(self, *subjects: Iterable[Subject]) -> None:
        for each in subjects:
            self._dirty.update(each)
        self._on_change()
