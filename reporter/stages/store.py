"""
All that was observed, kept by the edges and read by passes through an immutable view.

Decides nothing: a change refreshes what is kept and marks the subjects that it touches.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime

from reporter.model.kaito_objects import Workspace
from reporter.model.kinds import PODS, WORKSPACES, ResourceKind
from reporter.model.node_objects import NodeClaim
from reporter.model.objects import ApiObject, Condition, Pod
from reporter.model.observations import Discovery, Presence, Sight
from reporter.model.samples import Life, Scrape, Unread
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.stages.kept import Kept
from reporter.stages.node_claims import refusal
from reporter.stages.nodes import remember
from reporter.stages.presence import observe, unanswered
from reporter.stages.scrapes import Scrapes
from reporter.stages.sharded import Sharded
from reporter.stages.snapshot import Name, Snapshot
from reporter.stages.subjects import EVERYTHING, touched


PART = 500
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
        scrapes: Scrapes | None = None,
    ) -> None:
        self.kinds = tuple(kinds)
        self._kept = {kind.resource: Kept(kind) for kind in self.kinds}
        self._presences = {crd: Presence() for crd in crds}
        self._scrapes = scrapes or Scrapes()
        self._refusals: Sharded[Name, Condition] = Sharded()
        self._spoilt: set[ObjectRef] = set()
        self._gone: dict[ObjectRef, str] | None = None
        self._dirty: set[Subject] = set()
        self._changed: Callable[[], None] = lambda: None

    def notify(self, changed: Callable[[], None]) -> None:
        """
        Call this after each change from now on; it must be quick.
        """
        self._changed = changed

    def replace(
        self, kind: ResourceKind, objects: Iterable[ApiObject], unread: Collection[Name] = ()
    ) -> None:
        """
        Take a complete list: what is not in it is gone. *unread* are in it, but could not be read.
        """
        for _ in self.replacing(kind, objects, unread):
            pass

    def replacing(
        self, kind: ResourceKind, objects: Iterable[ApiObject], unread: Collection[Name] = ()
    ) -> Iterator[None]:
        """
        The same, yielding where others may have their turn; what is new comes before what is gone.
        """
        kept = self._kept[kind.resource]
        spoilt = {(r.namespace, r.name) for r in self._spoilt if r.resource == kind.qualified}
        gone = {*kept.objects.keys(), *spoilt} - set(unread)
        for number, each in enumerate(objects, start=1):
            gone.discard((each.metadata.namespace, each.metadata.name))
            self.put(kind, each)
            if not number % PART:
                yield
        for number, (namespace, name) in enumerate(gone, start=1):
            self.drop(kind, namespace, name)
            if not number % PART:
                yield
        for namespace, name in unread:
            self.spoil(kind, namespace, name)

    def put(self, kind: ResourceKind, new: ApiObject) -> None:
        meta = new.metadata
        ref = ObjectRef(kind.qualified, meta.namespace, meta.name)
        kept = self._kept[kind.resource]
        if kept.gone.pop(ref, None) is not None:
            self._gone = None
        healed = ref in self._spoilt
        self._spoilt.discard(ref)
        old = kept.objects.get((meta.namespace, meta.name))
        if isinstance(new, Pod):
            self._scrapes.follow(new)
        if isinstance(new, Workspace):
            self._remember(new)
        if isinstance(new, NodeClaim):
            self._refused(new)
        if kept.put((meta.namespace, meta.name), new) or healed:
            self._touch(touched(kind, new), touched(kind, old) if old is not None else ())

    def drop(self, kind: ResourceKind, namespace: str, name: str) -> None:
        kept = self._kept[kind.resource]
        old = kept.drop((namespace, name))
        ref = ObjectRef(kind.qualified, namespace, name)
        if old is None and ref not in self._spoilt:
            return
        self._spoilt.discard(ref)
        if isinstance(old, Pod):
            self._scrapes.forget((namespace, name))
        if isinstance(old, Workspace):
            self._refusals.pop((namespace, name))
        if kept.remember((namespace, name), old.metadata.uid if old is not None else ""):
            self._gone = None
        self._touch(touched(kind, old) if old is not None else EVERYTHING)

    def _remember(self, workspace: Workspace) -> None:
        name = (workspace.metadata.namespace, workspace.metadata.name)
        before = self._refusals.get(name)
        after = remember(before, workspace)
        if after is None and before is not None:
            self._refusals.pop(name)
        elif after is not None and after != before:
            self._refusals[name] = after

    def _refused(self, claim: NodeClaim) -> None:
        """
        Remember its error as its Workspace's: it may be deleted before that tells of it.
        """
        error = refusal(claim)
        known = self._kept.get(WORKSPACES.resource)
        if error is not None and known and known.objects.get(claim.workspace) is not None:
            self._refusals[claim.workspace] = error

    def spoil(self, kind: ResourceKind, namespace: str, name: str) -> None:
        """
        Keep the old version, marked: its newest one could not be read.
        """
        ref = ObjectRef(kind.qualified, namespace, name)
        if ref not in self._spoilt:
            self._spoilt.add(ref)
            self._touch(EVERYTHING)

    def sight(self, kind: ResourceKind, sight: Sight) -> None:
        if self._kept[kind.resource].sight != sight:
            self._kept[kind.resource].sight = sight
            self._touch(EVERYTHING)

    def discovered(self, answer: Discovery | None, why: str = "", *, now: datetime) -> None:
        """
        Take an answer of discovery, or None and why there was none.
        """
        after = {
            crd: unanswered(before, why)
            if answer is None
            else observe(before, answer, crd, now=now)
            for crd, before in self._presences.items()
        }
        if after != self._presences:
            self._presences = after
            self._touch(EVERYTHING)

    def pod(self, namespace: str, name: str) -> Pod | None:
        found = self._kept[PODS.resource].objects.get((namespace, name))
        return found if isinstance(found, Pod) else None

    def sampled(self, pod: Pod, scrape: Scrape) -> None:
        """
        Take what a page said; *pod* is as it was before that was read.
        """
        if self._lives(pod) and self._scrapes.sampled(pod, scrape):
            self._touch(touched(PODS, pod))

    def unread(self, pod: Pod, unread: Unread) -> None:
        """
        Take that a page could not be read.
        """
        if self._lives(pod) and self._scrapes.unread(pod, unread):
            self._touch(touched(PODS, pod))

    def _lives(self, pod: Pod) -> bool:
        """
        Whether it is still that pod, not restarted since, and still loads its model.
        """
        now = self.pod(pod.metadata.namespace, pod.metadata.name)
        return now is not None and not now.ready and Life.of(now) == Life.of(pod)

    def served(self, kind: ResourceKind) -> str | None:
        """
        The version to read a kind in; None while that is not known or none fits.
        """
        if kind.qualified not in self._presences:
            return kind.versions[0]
        versions = self._presences[kind.qualified].versions or ()
        return next((v for v in kind.versions if v in versions), None)

    @property
    def sights(self) -> tuple[Sight, ...]:
        """
        How well each kind is seen. A view would tell it too, after which every write copies.
        """
        return tuple(kept.sight for kept in self._kept.values())

    @property
    def doubting(self) -> bool:
        """
        Whether a loss still needs its second answer.
        """
        return any(p.doubted is not None for p in self._presences.values())

    def view(self) -> Snapshot:
        return Snapshot(
            tables={resource: kept.table() for resource, kept in self._kept.items()},
            presences=dict(self._presences),
            gone=self._all_gone(),
            spoilt=frozenset(self._spoilt),
            windows=self._scrapes.view(),
            refusals=self._refusals.freeze(),
        )

    def _all_gone(self) -> dict[ObjectRef, str]:
        """
        Put together anew only after a change: a pass over one subject must not pay for thousands.
        """
        if self._gone is None:
            kept = self._kept.values()
            self._gone = {ref: uid for each in kept for ref, uid in each.gone.items()}
        return self._gone

    def take_dirty(self) -> frozenset[Subject]:
        """
        The subjects touched since the last call.
        """
        dirty = frozenset(self._dirty)
        self._dirty.clear()
        return dirty

    def _touch(self, *subjects: Iterable[Subject]) -> None:
        for each in subjects:
            self._dirty.update(each)
        self._changed()
