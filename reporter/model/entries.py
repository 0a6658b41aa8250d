"""
The catalogue's entries as values.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum, unique
from typing import Any

from reporter.model.kinds import ResourceKind
from reporter.model.verdicts import NOTHING
from reporter.model.words import EventType, Kind, Layer, Owner, Reason, Source


@unique
class Scope(StrEnum):
    """
    How far a suppression reaches.
    """

    CLUSTER = "cluster"
    NAMESPACE = "namespace"


@dataclass(frozen=True, slots=True)
class Suppression:
    """
    While *source* is out, *target* has no input. *why* says what it definitionally lacks.
    """

    source: Reason
    target: Reason
    scope: Scope
    why: str


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """
    What the catalogue must know of a probe to accept an entry that names it.

    *parameters* is the msgspec Struct of the entry's ``parameters``.
    *fields* may stand in its message, *codes* have remedies of their own.
    *requires*: kinds without which it cannot judge; *uses*: kinds that add detail;
    *demands*: CRDs (``resource.group``) without which it has no input, so that a missing one
    suppresses it; *presences*: CRDs whose presence it reads.
    *sources*: kinds that add detail if that source is switched on; without it they do not exist.
    *pauses*: it judges pods, of which an InferenceSet that is scaled to zero has none.
    *scrapes*: it judges what pods' pages of metrics say.
    """

    name: str
    parameters: type[Any]
    fields: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    requires: tuple[ResourceKind, ...] = ()
    uses: tuple[ResourceKind, ...] = ()
    demands: Callable[[Any], frozenset[str]] = lambda _: frozenset()
    presences: Callable[[Any], frozenset[str]] = lambda _: frozenset()
    pauses: bool = False
    scrapes: bool = False
    sources: Mapping[Source, tuple[ResourceKind, ...]] = field(default_factory=dict)

    def reads(self, sources: Collection[Source] = frozenset()) -> tuple[ResourceKind, ...]:
        """
        The kinds that it reads with these sources switched on.
        """
        more = (
            kind for source, kinds in self.sources.items() if source in sources for kind in kinds
        )
        return (*self.requires, *self.uses, *more)


@dataclass(frozen=True, slots=True)
class Holds:
    """
    How long trouble of each kind must last before it counts; None is the startup grace.
    """

    declared: timedelta | None = timedelta(0)
    failed: timedelta | None = timedelta(seconds=15)
    lost: timedelta | None = timedelta(seconds=30)
    starting: timedelta | None = None

    def of(self, kind: Kind, *, grace: timedelta) -> timedelta:
        held = {
            Kind.DECLARED: self.declared,
            Kind.FAILED: self.failed,
            Kind.LOST: self.lost,
            Kind.STARTING: self.starting,
        }[kind]
        return grace if held is None else held


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One reason of the catalogue.

    *rank*: 0 is the highest of its layer; None for orthogonal reasons and for the layer's Ready.
    *settle*: how long Clear must last; None is ``--settle-seconds``.
    *grace*: whether trouble with a young or just missing object waits for the startup grace.
    *remedies*: by code, with ``default``.
    """

    reason: Reason
    layer: Layer
    type: EventType
    owner: Owner
    message: str
    rank: int | None = None
    orthogonal: bool = False
    probe: str = ""
    parameters: Any = None
    holds: Holds = Holds()
    settle: timedelta | None = None
    grace: bool = True
    remedies: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    enabled: bool = True
    pending: bool = False

    @property
    def ready(self) -> bool:
        """
        Whether this is the Normal reason that says a layer's subject is well again.
        """
        return self.type is EventType.NORMAL

    @property
    def judged(self) -> bool:
        """
        Whether a probe runs for it.
        """
        return self.enabled and not self.pending and not self.ready


@dataclass(frozen=True, slots=True)
class Catalogue:
    """
    All entries and all rows; checked by the loader, so that whoever reads it need not ask.

    *crd_source*: the reason of a missing CRD; while item X of it is out, it suppresses every reason
    whose probe demands X. *demanded*: these CRDs, by reason.
    """

    entries: Mapping[Reason, Entry]
    suppressions: tuple[Suppression, ...] = ()
    crd_source: Reason | None = None
    demanded: Mapping[Reason, frozenset[str]] = field(default_factory=dict)

    def demands(self, reason: Reason) -> frozenset[str]:
        return self.demanded.get(reason, frozenset())

    def __getitem__(self, reason: Reason) -> Entry:
        return self.entries[reason]

    def of(self, layer: Layer) -> tuple[Entry, ...]:
        """
        The reasons of a layer that are judged, by rank, orthogonal ones last.
        """
        judged = (e for e in self.entries.values() if e.layer is layer and e.judged)
        return tuple(sorted(judged, key=lambda e: (e.rank is None, e.rank or 0, e.reason)))

    def ready(self, layer: Layer) -> Entry:
        return next(e for e in self.entries.values() if e.layer is layer and e.ready)

    @property
    def on(self) -> tuple[Reason, ...]:
        """
        The reasons that can be said: a Ready follows from the judged ones of its layer.
        """
        every = self.entries.values()
        said = (e.judged or (e.ready and e.enabled and bool(self.of(e.layer))) for e in every)
        return tuple(e.reason for e, on in zip(every, said, strict=True) if on)

    @property
    def off(self) -> tuple[Reason, ...]:
        return tuple(e.reason for e in self.entries.values() if not e.enabled)

    @property
    def pending(self) -> tuple[Reason, ...]:
        """
        The reasons that cannot be said yet, as their probe, or every probe of their layer, is missing.
        """
        known = {*self.on, *self.off}
        return tuple(reason for reason in self.entries if reason not in known)
