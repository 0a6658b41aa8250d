"""Prepare the reasons in CEL of a catalogue: compile them, and derive what is watched for them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import msgspec

from reporter.catalogue.entries import GivenEntry, ParameterProblem, Preparation
from reporter.cel.compile import (
    CelReason,
    CompiledReason,
    ReadKind,
    ReasonCompiler,
    ReasonGroup,
)
from reporter.cel.crd_fields import CrdFields
from reporter.cel.declared_kinds import SubjectRule, Use, shared_kind
from reporter.cel.evaluation import find_current
from reporter.cel.library import MissingLibraryError
from reporter.kinds.declared import DeclaredKind
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind


MAX_REASONS = 200
"""
Reasons in CEL that a catalogue may have: as many about 10,000 objects take some seconds at start, in
which nothing else runs.
"""


NO_CRDS = CrdFields()


def prepare_entries(
    entries: Sequence[GivenEntry], kinds: Mapping[str, DeclaredKind], crds: CrdFields = NO_CRDS
) -> Preparation:
    """Return the compiled reasons, or every problem that they have. *crds*: to find misspelled fields."""
    if len(entries) > MAX_REASONS:
        text = f"{len(entries)} reasons have this probe, of at most {MAX_REASONS}; remove some"
        return Preparation((), [ParameterProblem(MAX_REASONS, "", text)])
    compilers = [ReasonCompiler(i, entry, kinds, crds) for i, entry in enumerate(entries)]
    try:
        found = [compiler.compile() for compiler in compilers]
    except MissingLibraryError as err:
        return Preparation((), [ParameterProblem(0, "", str(err))])  # the same for each of them
    problems = [problem for compiler in compilers for problem in compiler.problems]
    compiled = [each for each in found if each is not None]
    if problems or len(compiled) != len(entries):
        return Preparation((), problems)
    return Preparation(_Assembly(entries, compiled, kinds).reasons())


class _Assembly:
    """
    Makes the kinds that reasons read, and the reasons that read them: each needs the other.

    A kind remembers for each reason which objects were current, and a reason reads the kind.
    """

    def __init__(
        self,
        entries: Sequence[GivenEntry],
        compiled: Sequence[CompiledReason],
        kinds: Mapping[str, DeclaredKind],
    ) -> None:
        self._entries, self._compiled, self._declared = entries, compiled, kinds
        self._remembering: dict[str, list[CelReason]] = {}
        self._groups: defaultdict[tuple[str, SubjectRule], ReasonGroup] = defaultdict(ReasonGroup)
        used = dict.fromkeys(kind for each in compiled for kind in each.reads)
        self._kinds = {kind: ReadKind(kinds[kind], self._watched(kind)) for kind in used}

    def reasons(self) -> list[CelReason]:
        return [
            self._reason(entry, compiled)
            for entry, compiled in zip(self._entries, self._compiled, strict=True)
        ]

    def _reason(self, entry: GivenEntry, compiled: CompiledReason) -> CelReason:
        group = self._groups[compiled.given.kind, compiled.rule]
        reason = CelReason(
            entry.reason,
            self._kinds[compiled.given.kind],
            compiled.rule,
            compiled.expressions,
            compiled.given.parameters,
            {kind: self._kinds[kind] for kind in compiled.lookups},
            tuple(self._kinds[kind] for kind in compiled.given.needed_by),
            compiled.remembers_current,
            compiled.depends_on_object_alone,
            group,
            len(group.members),
        )
        if compiled.remembers_current and entry.is_enabled:
            # The kind may outlast the catalogue, whose results it must not keep.
            self._remembering[compiled.given.kind].append(replace(reason, group=ReasonGroup()))
        if compiled.depends_on_object_alone and entry.is_enabled:
            group.members.append(reason)
        return reason

    def _watched(self, kind: str) -> ResourceKind:
        using = [
            (entry, compiled)
            for entry, compiled in zip(self._entries, self._compiled, strict=True)
            if entry.is_enabled and kind in compiled.reads
        ]
        ends = {
            (path, True)
            for entry in self._entries
            if entry.is_enabled
            and entry.subjects is not None
            and _is_of(entry.subjects.kind, self._declared[kind])
            for path in entry.subjects.ended.fields
        }
        use = Use(
            frozenset(read for _, each in using for read in each.reads[kind]) | ends,
            frozenset(each.rule for _, each in using if each.given.kind == kind),
            frozenset(entry.layer for entry, each in using if kind in each.lookups),
            is_needed=any(each.given.needed_by and each.given.kind == kind for _, each in using),
            needs_others=any(kind in each.given.needed_by for _, each in using),
        )
        reasons = self._remembering[kind] = []
        remembered = tuple(
            (entry.reason, each.given.current, msgspec.json.encode(each.given.parameters))
            for entry, each in using
            if each.remembers_current and each.given.kind == kind
        )
        remember_current = _memory_of_current(reasons) if remembered else None
        return shared_kind(self._declared[kind], use, remembered, remember_current)


def _is_of(kind: ResourceKind, declared: DeclaredKind) -> bool:
    """Return whether what makes subjects is this kind."""
    return kind.is_declared and (kind.kind, kind.group_resource) == (
        declared.kind,
        declared.group_resource,
    )


def _memory_of_current(
    reasons: Iterable[CelReason],
) -> Callable[[ApiObject, frozenset[str]], frozenset[str]]:
    """Return the function that keeps which definitions of current an object has met."""
    shared: dict[frozenset[str], frozenset[str]] = {}

    @cache
    def known() -> frozenset[str]:
        return frozenset(reason.current_id for reason in reasons)

    def remember_current(each: ApiObject, kept: frozenset[str]) -> frozenset[str]:
        others = kept - known()
        kept &= known()
        if others:
            # Those of another catalogue are dropped. An Event of a predecessor tells the reason alone.
            kept |= {one for one in known() if one.partition(" ")[0] in others}
        missing = [reason for reason in reasons if reason.current_id not in kept]
        more = find_current(missing, each) if missing else ()
        met = kept.union(more) if more else kept
        return shared.setdefault(met, met)  # most objects have the same ones

    return remember_current
