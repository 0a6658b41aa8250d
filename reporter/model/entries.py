"""
The catalogue's entries as values.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum, unique
from typing import Any

from reporter.model.enums import DetailSource, EventType, Layer, Owner, Reason, TroubleKind
from reporter.model.kinds.resource_kinds import ResourceKind
from reporter.model.scrapes import ScrapeFunc
from reporter.model.verdicts import EMPTY_MAP


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
    *scrape*: builds the request for samples from the metrics pages of pods, if it reads any.
    """

    name: str
    parameters_type: type[Any]
    message_fields: frozenset[str] = frozenset()
    cause_codes: frozenset[str] = frozenset()
    required_kinds: tuple[ResourceKind, ...] = ()
    optional_kinds: tuple[ResourceKind, ...] = ()
    required_crds: Callable[[Any], frozenset[str]] = lambda _: frozenset()
    observed_crds: Callable[[Any], frozenset[str]] = lambda _: frozenset()
    pauses_at_zero_replicas: bool = False
    scrape: ScrapeFunc | None = None
    kinds_by_source: Mapping[DetailSource, tuple[ResourceKind, ...]] = field(default_factory=dict)

    def watched_kinds(
        self, sources: Collection[DetailSource] = frozenset()
    ) -> tuple[ResourceKind, ...]:
        """
        The kinds that it reads with these sources switched on.
        """
        more = (
            kind
            for source, kinds in self.kinds_by_source.items()
            if source in sources
            for kind in kinds
        )
        return (*self.required_kinds, *self.optional_kinds, *more)


@dataclass(frozen=True, slots=True)
class HoldDurations:
    """
    How long trouble of each kind must last before it counts; None is the startup grace.
    """

    declared: timedelta | None = timedelta(0)
    failed: timedelta | None = timedelta(seconds=15)
    lost: timedelta | None = timedelta(seconds=30)
    starting: timedelta | None = None

    def for_kind(self, kind: TroubleKind, *, grace: timedelta) -> timedelta:
        held = {
            TroubleKind.DECLARED: self.declared,
            TroubleKind.FAILED: self.failed,
            TroubleKind.LOST: self.lost,
            TroubleKind.STARTING: self.starting,
        }[kind]
        return grace if held is None else held


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
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
    message_template: str
    rank: int | None = None
    orthogonal: bool = False
    probe: str = ""
    parameters: Any = None
    holds: HoldDurations = HoldDurations()
    settle: timedelta | None = None
    waits_for_grace: bool = True
    remedies: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAP)
    enabled: bool = True
    pending: bool = False

    @property
    def is_ready_reason(self) -> bool:
        """
        Whether this is the Normal reason that says a layer's subject is well again.
        """
        return self.type is EventType.NORMAL

    @property
    def is_evaluated(self) -> bool:
        """
        Whether a probe runs for it.
        """
        return self.enabled and not self.pending and not self.is_ready_reason


@dataclass(frozen=True, slots=True)
class Catalogue:
    """
    All entries and all rows; checked by the loader, so that whoever reads it need not ask.

    *crd_source*: the reason of a missing CRD; while item X of it is out, it suppresses every reason
    whose probe demands X. *demanded*: these CRDs, by reason.
    """

    entries: Mapping[Reason, CatalogueEntry]
    suppressions: tuple[Suppression, ...] = ()
    missing_crd_reason: Reason | None = None
    required_crds_by_reason: Mapping[Reason, frozenset[str]] = field(default_factory=dict)

    def required_crds(self, reason: Reason) -> frozenset[str]:
        return self.required_crds_by_reason.get(reason, frozenset())

    def __getitem__(self, reason: Reason) -> CatalogueEntry:
        return self.entries[reason]

    def evaluated_entries(self, layer: Layer) -> tuple[CatalogueEntry, ...]:
        """
        The reasons of a layer that are judged, by rank, orthogonal ones last.
        """
        judged = (e for e in self.entries.values() if e.layer is layer and e.is_evaluated)
        return tuple(sorted(judged, key=lambda e: (e.rank is None, e.rank or 0, e.reason)))

    def ready_entry(self, layer: Layer) -> CatalogueEntry:
        return next(e for e in self.entries.values() if e.layer is layer and e.is_ready_reason)

    @property
    def enabled_reasons(self) -> tuple[Reason, ...]:
        """
        The reasons that can be said: a Ready follows from the judged ones of its layer.
        """
        every = self.entries.values()
        said = (
            e.is_evaluated
            or (e.is_ready_reason and e.enabled and bool(self.evaluated_entries(e.layer)))
            for e in every
        )
        return tuple(e.reason for e, on in zip(every, said, strict=True) if on)

    @property
    def disabled_reasons(self) -> tuple[Reason, ...]:
        return tuple(e.reason for e in self.entries.values() if not e.enabled)

    @property
    def pending(self) -> tuple[Reason, ...]:
        """
        The reasons that cannot be said yet, as their probe, or every probe of their layer, is missing.
        """
        known = {*self.enabled_reasons, *self.disabled_reasons}
        return tuple(reason for reason in self.entries if reason not in known)
