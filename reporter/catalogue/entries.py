"""The catalogue, its entries and the contract of a probe, as values."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum, unique
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.catalogue.subject_definitions import (
    NO_SUBJECTS,
    SubjectDefinition,
    SubjectDefinitions,
)
from reporter.kinds.declared import DeclaredKind
from reporter.kinds.resource_kind import ResourceKind
from reporter.model import enums
from reporter.model.verdicts import EMPTY_MAP, Trouble
from reporter.scrape.scrapes import ScrapeFunc


# --------------------------------------------------------------------
# The preparation by a probe of its entries' parameters, when a catalogue is loaded.


class GivenEntry(NamedTuple):
    """
    An entry with the parameters of its file.

    *place*: returns the file and line of one of their keys.
    *subjects*: what makes its subjects; None for the cluster. *is_partial*: other keys of it are wrong, so
    that layer and subjects are not known.
    """

    reason: enums.Reason
    layer: enums.Layer
    parameters: Any
    place: Callable[[str], str]
    is_enabled: bool = True
    subjects: SubjectDefinition | None = None
    is_partial: bool = False


class ParameterProblem(NamedTuple):
    """
    A problem of the entry with this number: its key, and what to do.

    *line* and *column*: where in the text of the value, counted from 1; 0 for the whole value.
    """

    entry: int
    key: str
    text: str
    line: int = 0
    column: int = 0


class Preparation(NamedTuple):
    """
    The parameters with which the probe is called, in the order of the entries, or the problems.
    """

    parameters: Sequence[Any]
    problems: Sequence[ParameterProblem] = ()


PrepareFunc: TypeAlias = Callable[[Sequence[GivenEntry], Mapping[str, DeclaredKind]], Preparation]
"""Prepares all entries of one probe. The kinds that the catalogue declares are by their names."""


# --------------------------------------------------------------------
# The holds of a reason, by kind of trouble.


class HoldDurations(Struct, frozen=True):
    """
    The time that trouble of each kind must last before it counts; None is the startup grace.

    *with_grace*: what is only starting has at least the startup grace, and no hold while that is zero.
    """

    declared: timedelta | None = timedelta(0)
    # A component states a hard error, so little may still change. Nobody states one of what was lost: it
    # may be back by itself in a moment, as a container is that the kubelet starts again after its first
    # crash (resources/pods.py, _crash_problem). So it waits for twice as long (docs/events.md, Hold).
    failed: timedelta | None = timedelta(seconds=15)
    lost: timedelta | None = timedelta(seconds=30)
    starting: timedelta | None = None
    with_grace: bool = True

    def for_kind(self, kind: enums.TroubleKind, *, grace: timedelta) -> timedelta:
        """
        Return the hold of a kind of trouble, with the startup *grace* where the entry gives no time.
        """
        duration = {
            enums.TroubleKind.DECLARED: self.declared,
            enums.TroubleKind.FAILED: self.failed,
            enums.TroubleKind.LOST: self.lost,
            enums.TroubleKind.STARTING: self.starting,
        }[kind]
        if duration is None:
            return grace
        if kind is enums.TroubleKind.STARTING and self.with_grace:
            return max(duration, grace) if grace else grace
        return duration

    def for_trouble(self, trouble: Trouble, *, grace: timedelta) -> timedelta:
        """Return the hold that the probe gives a trouble, else that of its kind."""
        if trouble.hold is not None:
            return trouble.hold
        return self.for_kind(trouble.kind, grace=grace)


DEFAULT_HOLDS = HoldDurations()


SCRAPE_FLAG = "scrape"
"""The flag with the `ScrapeScope`."""

SOURCES_FLAG = "sources"
"""The flag with each `DetailSource` that is switched on, divided by commas."""


@unique
class Scope(StrEnum):
    """
    The reach of a suppression: subjects of the whole cluster, or only those of the source's namespace.
    """

    CLUSTER = "cluster"
    NAMESPACE = "namespace"


class Suppression(Struct, frozen=True):
    """
    A dependency of the catalogue: while *source* is out, *target* is suppressed.

    *why* names the input that the target's probe lacks then. *enabled*: False for a dependency of which
    an overlay wants both announced.
    """

    source: enums.Reason
    target: enums.Reason
    scope: Scope
    why: str
    enabled: bool = True


class PathRow(Struct, frozen=True):
    """
    A row of the path of requests: subjects that answer none while a finding of the entry is out.

    *subject_kind*: as in the names of the subjects. *exceptions*: codes, or names of cause
    objects, that hinder no request. *only*: the codes or names of the only causes that do; empty
    if all do. *where_called*: only where an EnvoyFilter of the namespace calls the Service with
    the name of the cause's object.
    """

    subject_kind: str
    exceptions: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    where_called: bool = False


class ProbeSpec(Struct, frozen=True):
    """
    The contract of a probe, against which catalogue entries are checked.

    *parameters_type*: the msgspec Struct of the entry's ``parameters``.
    *message_fields* may be used in its message, *cause_codes* may have remedies of their own.
    *required_kinds*: while one of them is unknown, so is the verdict. *consulted_kinds*: the same,
    but only for a subject for which the probe looks an object of that kind up. *optional_kinds* add
    detail.
    *kinds_by_source*: kinds that are watched only if that source is switched on.
    *source*: without it the probe is not called, and no kind is watched for its sake.
    *required_crds*: CRDs (``resource.group``) without which the probe has no input, so that a
    missing one suppresses its reasons. *observed_crds*: CRDs whose presence it reads.
    *pauses_at_zero_replicas*: it evaluates pods, and an InferenceSet scaled to zero has none.
    *why_no_check*: returns what to set if the probe checks nothing with these parameters and flags.
    *scrape*: builds the request for samples from the metrics pages of pods, if it reads any.
    *prepare*: makes the parameters of its entries when a catalogue is loaded. *kinds_of*: returns the
    required and the consulted kinds of an entry, by its parameters.
    *any_cause_code*: entries decide which codes there are. *own_causes*: those that explain themselves.
    """

    name: str
    parameters_type: type[Any]
    message_fields: frozenset[str] = frozenset()
    cause_codes: frozenset[str] = frozenset()
    own_causes: frozenset[str] = frozenset()
    required_kinds: tuple[ResourceKind, ...] = ()
    consulted_kinds: tuple[ResourceKind, ...] = ()
    optional_kinds: tuple[ResourceKind, ...] = ()
    required_crds: Callable[[Any], frozenset[str]] = lambda _: frozenset()
    observed_crds: Callable[[Any], frozenset[str]] = lambda _: frozenset()
    why_no_check: Callable[[Any, Mapping[str, str]], str] = lambda _, __: ""
    pauses_at_zero_replicas: bool = False
    scrape: ScrapeFunc | None = None
    kinds_by_source: Mapping[enums.DetailSource, tuple[ResourceKind, ...]] = field(
        default_factory=dict
    )
    source: enums.DetailSource | None = None
    prepare: PrepareFunc | None = None
    kinds_of: Callable[[Any], tuple[tuple[ResourceKind, ...], tuple[ResourceKind, ...]]] | None = (
        None
    )
    any_cause_code: bool = False

    def bound(self, parameters: Any) -> "ProbeSpec":
        """Return the spec with the kinds that an entry with these parameters reads."""
        if self.kinds_of is None:
            return self
        required, consulted = self.kinds_of(parameters)
        return replace(self, required_kinds=required, consulted_kinds=consulted)

    def why_unchecked(self, parameters: Any, flags: Mapping[str, str]) -> str:
        """
        Return what to set if the probe checks nothing with these parameters and flags; else empty.
        """
        why = self.why_no_check(parameters, flags)
        return why or self.why_source_off(flags) or self.why_not_read(parameters, flags)

    def why_source_off(self, flags: Mapping[str, str]) -> str:
        """Return what to set if the probe needs a source that is switched off; empty if not."""
        if self.source is None:
            return ""
        sources = {each.strip() for each in flags.get(SOURCES_FLAG, "").split(",")}
        if self.source.value in sources:
            return ""
        return f"add {self.source} to --{SOURCES_FLAG}"

    def is_called(self, sources: Collection[enums.DetailSource]) -> bool:
        """Return whether the probe is called with these sources switched on."""
        return self.source is None or self.source in sources

    def why_not_read(self, parameters: Any, flags: Mapping[str, str]) -> str:
        """
        Return what to set if the probe needs pages that ``--scrape`` leaves out; empty if it needs none.
        """
        scope = enums.ScrapeScope(flags.get(SCRAPE_FLAG, enums.ScrapeScope.ALL))
        if scope is enums.ScrapeScope.ALL or self.scrape is None:
            return ""
        scrape = self.scrape(parameters, flags)
        if scrape is None or scrape.pods.is_within(scope):
            return ""
        wider = "loading or all" if scrape.pods.only_loading else "all"
        return f"set --{SCRAPE_FLAG} to {wider}"

    @property
    def deciding_kinds(self) -> tuple[ResourceKind, ...]:
        """The kinds of which an object that cannot be read makes the verdict Unknown."""
        return (*self.required_kinds, *self.consulted_kinds)

    @property
    def detail_kinds(self) -> tuple[ResourceKind, ...]:
        """The kinds of all sources, of which an unreadable object hides no known trouble."""
        return tuple(kind for kinds in self.kinds_by_source.values() for kind in kinds)

    def watched_kinds(
        self, sources: Collection[enums.DetailSource] = frozenset()
    ) -> tuple[ResourceKind, ...]:
        """Return the kinds that the probe reads with these sources switched on."""
        if not self.is_called(sources):
            return ()
        more = (
            kind
            for source, kinds in self.kinds_by_source.items()
            if source in sources
            for kind in kinds
        )
        return (*self.required_kinds, *self.consulted_kinds, *self.optional_kinds, *more)


DEFAULT_SEVERITY, NO_ALERT = "warning", "none"


class CatalogueEntry(Struct, frozen=True):
    """
    One reason of the catalogue.

    *subject_kind*: the kind of the subjects that it is about, as in their names. *object_kind*: that of
    their objects; empty if they are namespaces or the cluster.
    *rank*: 0 is the highest of its layer; None for orthogonal reasons and for the layer's Ready.
    *settle*: the time that Clear must last; None is ``--settle-seconds``.
    *window*: the time that the reason may be Unknown or settling before its subject counts as stalled;
    None is that of the layer.
    *waits_for_grace*: trouble with a young or just missing object waits for the startup grace.
    *severity*: of its alerts. *severity_while_out*: of further ones while something of it is out; empty
    if there are none. NO_ALERT: none either.
    *remedies*: by cause code, with ``default``. *own_causes*: the codes of causes that explain themselves,
    so that no upstream suppresses them but a missing CRD.
    *path*: the subjects whose requests need what the reason is about.
    *meaning*, *runbook*: what it means, and the steps that end it; empty without.
    """

    reason: enums.Reason
    layer: enums.Layer
    type: enums.EventType
    owner: enums.Owner
    message_template: str
    severity: str = DEFAULT_SEVERITY
    severity_while_out: str = ""
    rank: int | None = None
    orthogonal: bool = False
    probe: str = ""
    parameters: Any = None
    holds: HoldDurations = DEFAULT_HOLDS
    settle: timedelta | None = None
    window: timedelta | None = None
    waits_for_grace: bool = True
    remedies: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAP)
    enabled: bool = True
    subject_kind: str = ""
    object_kind: str = ""
    own_causes: frozenset[str] = frozenset()
    path: tuple[PathRow, ...] = ()
    meaning: str = ""
    runbook: tuple[str, ...] = ()

    @property
    def is_ready_reason(self) -> bool:
        """True for the Normal reason that announces the recovery of a subject."""
        return self.type is enums.EventType.NORMAL

    @property
    def is_evaluated(self) -> bool:
        """True if a probe runs for this reason: it is enabled, and no Ready."""
        return self.enabled and not self.is_ready_reason


class Catalogue(Struct, frozen=True):
    """
    The entries and suppressions. The loader has checked that they fit together.

    *missing_crd_reason*: the reason with a finding for each missing CRD, which suppresses all reasons
    whose probe requires that CRD; None if the catalogue has no such reason.
    *required_crds_by_reason*: the CRDs that the probe of each reason requires.
    *subject_definitions*: the rules by which objects make the subjects.
    *is_missing_crd_enabled*: False if an overlay wants these reasons announced beside a missing CRD.
    """

    entries: Mapping[enums.Reason, CatalogueEntry]
    suppressions: tuple[Suppression, ...] = ()
    missing_crd_reason: enums.Reason | None = None
    required_crds_by_reason: Mapping[enums.Reason, frozenset[str]] = field(default_factory=dict)
    subject_definitions: SubjectDefinitions = NO_SUBJECTS
    is_missing_crd_enabled: bool = True

    def required_crds(self, reason: enums.Reason) -> frozenset[str]:
        """Return the CRDs, as resource.group, without which the reason cannot be evaluated."""
        return self.required_crds_by_reason.get(reason, frozenset())

    def __getitem__(self, reason: enums.Reason) -> CatalogueEntry:
        return self.entries[reason]

    def evaluated_entries(
        self, layer: enums.Layer, subject_kind: str = ""
    ) -> tuple[CatalogueEntry, ...]:
        """Return the evaluated reasons about a kind of subject, by rank, orthogonal ones last."""
        evaluated = (
            e
            for e in self.entries.values()
            if e.layer is layer and e.subject_kind == subject_kind and e.is_evaluated
        )
        return tuple(sorted(evaluated, key=lambda e: (e.rank is None, e.rank or 0, e.reason)))

    def ready_entry(self, layer: enums.Layer, subject_kind: str = "") -> CatalogueEntry:
        """
        Return the Normal entry that announces recovery; raise StopIteration if there is none.

        The loader's checks make sure that each kind of subject with a reason has exactly one.
        """
        return next(
            e
            for e in self.entries.values()
            if e.layer is layer and e.subject_kind == subject_kind and e.is_ready_reason
        )

    @property
    def enabled_reasons(self) -> tuple[enums.Reason, ...]:
        """The reasons that can be announced; a Ready needs an evaluated reason in its layer."""
        return tuple(
            e.reason
            for e in self.entries.values()
            if e.is_evaluated
            or (
                e.is_ready_reason and e.enabled and self.evaluated_entries(e.layer, e.subject_kind)
            )
        )

    @property
    def disabled_reasons(self) -> tuple[enums.Reason, ...]:
        """
        The reasons that are off in the catalogue, and the Ready of a layer without another reason.
        """
        enabled = frozenset(self.enabled_reasons)
        return tuple(reason for reason in self.entries if reason not in enabled)
