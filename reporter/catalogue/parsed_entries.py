"""Read entries, keep their lines with them for the checks, and build the catalogue of them."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from reporter.catalogue.entries import (
    Catalogue,
    CatalogueEntry,
    GivenEntry,
    HoldDurations,
    ParameterProblem,
    PathRow,
    ProbeSpec,
    Suppression,
)
from reporter.catalogue.format import Hold, ReasonEntry, parse_duration
from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.subject_definitions import (
    NO_SUBJECTS,
    SubjectDefinition,
    SubjectDefinitions,
)
from reporter.catalogue.yaml_nodes import Fields, Scalar, YamlNode
from reporter.catalogue.yaml_reader import read, readable_keys, struct_fields
from reporter.kinds.declared import DeclaredKind
from reporter.model.enums import Layer, Reason


class KnownNames(Struct, frozen=True):
    """
    The names that entries may use. *flags*: those of the process. *subjects*: the rules of all packs.

    *knows_all_subjects*: False if some rules could not be read, so that one missing is no problem.
    """

    specs: Mapping[str, ProbeSpec]
    flags: frozenset[str]
    subjects: SubjectDefinitions = NO_SUBJECTS
    knows_all_subjects: bool = True


class EntrySource(Struct, frozen=True):
    """One entry of a file, as an overlay left it. *pack*: empty for one of an overlay."""

    node: Fields
    pack: str = ""

    @property
    def name(self) -> str:
        """
        The text of the entry's key reason, by which an overlay names it; empty if there is none.
        """
        named = self.node.values.get("reason")
        return str(named.value) if isinstance(named, Scalar) else ""


class GivenCatalogue(Struct, frozen=True):
    """The entries, the kinds and what makes subjects in all files, not checked yet."""

    sources: tuple[EntrySource, ...]
    kinds: tuple[EntrySource, ...] = ()
    subjects: tuple[EntrySource, ...] = ()


def entry_sources(root: YamlNode | None, key: str, pack: str = "") -> Iterator[EntrySource]:
    """Yield the entries that a file lists under *key*."""
    for node in root.items_of(key) if isinstance(root, Fields) else ():
        if isinstance(node, Fields):
            yield EntrySource(node, pack)


class ParsedEntry(Struct, frozen=True):
    """
    An entry that was read, perhaps without some of its keys.

    *spec* is None for reasons without a probe, and for a probe that is not known. *parameters* is None
    for these, and if they are wrong. *rule*: what makes its subjects; None for the cluster, and if there
    is nothing. *is_partial*: keys without which it cannot be checked are wrong; only its parameters are.
    """

    entry: ReasonEntry
    node: Fields
    spec: ProbeSpec | None = None
    parameters: Any = None
    rule: SubjectDefinition | None = None
    is_partial: bool = False

    @property
    def about(self) -> tuple[Layer, str]:
        """The layer and the kind of its subjects, which have a Ready and ranks of their own."""
        return self.entry.layer, self.rule.subject_kind if self.rule is not None else ""

    @property
    def lacks_subjects(self) -> bool:
        """True if nothing makes its subjects, which was reported."""
        return self.rule is None and self.entry.layer is not Layer.CLUSTER

    @property
    def subject_fields(self) -> frozenset[str]:
        """The message fields with the names of the subject."""
        if self.entry.layer is Layer.CLUSTER:
            return frozenset()
        named = self.rule.message_field if self.rule is not None else ""
        return frozenset({"namespace", named} - {""})

    @property
    def reason(self) -> str:
        """The name of the reason, which may be defined twice among all."""
        return self.entry.reason

    @property
    def enabled(self) -> bool:
        """False for a reason that an overlay has disabled, which is checked all the same."""
        return self.entry.enabled

    def problem(self, text: str, *path: str) -> Problem:
        """Return a problem with the key at *path*, placed at that key."""
        return Problem(self.where(*path), f"{self.reason}: {text}")

    def where(self, *path: str) -> Place:
        """
        Return the line of the key at *path*.

        If the entry lacks it, return that of the last key above it that is there, else that of the
        reason.
        """
        node: object = self.node
        place = self.node.where("reason")
        for key in path:
            if not isinstance(node, Fields) or key not in node.values:
                break
            place, node = node.where(key), node.values[key]
        return place


class ParsedEntries(Struct, frozen=True):
    """
    The entries that could be read.

    *names* are those of all entries, so that a row which names an unreadable one is not reported.
    *partial*: those of which the parameters alone are checked.
    """

    all: tuple[ParsedEntry, ...]
    names: frozenset[str] = field(default=frozenset())
    partial: tuple[ParsedEntry, ...] = ()


MAX_REASONS = 2500
"""
The number of reasons in a catalogue. Each has series of its own, and a probe that runs in each pass.
"""


def parse_entries(
    sources: Sequence[EntrySource], known: KnownNames, problems: list[Problem]
) -> ParsedEntries:
    """
    Read the entries, and add to *problems* what is wrong with them.

    Of more than MAX_REASONS entries only the first are read. An entry that cannot be read leaves its
    name.
    """
    found: list[ParsedEntry] = []
    names = set()
    if len(sources) > MAX_REASONS:
        text = f"the catalogue has {len(sources)} reasons; it may have {MAX_REASONS}"
        problems.append(Problem(sources[MAX_REASONS].node.place, text))
    for source in sources[:MAX_REASONS]:
        names.add(source.name)
        parsed = _parse_entry(source, known, problems)
        if parsed is not None:
            found.append(parsed)
    partial = tuple(each for each in found if each.is_partial)
    whole = tuple(each for each in found if not each.is_partial)
    return ParsedEntries(whole, frozenset(names), partial)


INDEPENDENT_KEYS = frozenset(
    {"rank", "hold", "settle", "window", "grace", "meaning", "example", "runbook"}
)
"""
The keys that no check of another key needs: if one of them cannot be read, all others are still
checked.
"""


def _parse_entry(
    source: EntrySource, known: KnownNames, problems: list[Problem]
) -> ParsedEntry | None:
    entry = read(source.node, ReasonEntry, problems) or _read_rest(source.node)
    is_partial = entry is None
    entry = entry or _read_part(source.node)
    if entry is None:
        return None
    found: list[Problem] = []
    rule = None if is_partial else _find_rule(source, entry, known.subjects, found)
    problems += found if known.knows_all_subjects else ()
    parsed = ParsedEntry(entry, source.node, rule=rule, is_partial=is_partial)
    if entry.probe is UNSET:
        return parsed
    spec = known.specs.get(entry.probe)
    if spec is None:
        text = f"unknown probe `{entry.probe}`: {suggest_name(entry.probe, known.specs)}"
        problems.append(parsed.problem(text, "probe"))
        return parsed
    given = source.node.values.get("parameters") or Fields(source.node.where("probe"))
    if not isinstance(given, Fields):
        return None
    found = []
    parameters = read(given, spec.parameters_type, found)
    problems += [Problem(p.place, f"{entry.reason}: parameters: {p.text}") for p in found]
    if found and spec.prepare is not None:
        # A probe prepares only what could be read.
        parameters = read(readable_keys(given, spec.parameters_type), spec.parameters_type, [])
        is_partial = True
        if parameters is None:
            return None
    return ParsedEntry(entry, source.node, spec, parameters, rule, is_partial)


def _read_rest(node: Fields) -> ReasonEntry | None:
    """Return an entry without its wrong keys, None if the checks cannot do without one of them."""
    rest = readable_keys(node, ReasonEntry)
    wrong = node.values.keys() - rest.values.keys()
    known = struct_fields(ReasonEntry) or {}
    if wrong & known.keys() - INDEPENDENT_KEYS:
        return None
    return read(rest, ReasonEntry, [])


_PLACEHOLDERS = {"layer": "cluster", "type": "Warning", "owner": "platform", "message": "-"}
"""Values of required keys for an entry of which the parameters alone are checked."""


def _read_part(node: Fields) -> ReasonEntry | None:
    """Return an entry with placeholders for the keys that are wrong; None without a name."""
    rest = readable_keys(node, ReasonEntry)
    filled = {key: Scalar(node.place, value) for key, value in _PLACEHOLDERS.items()}
    return read(Fields(node.place, {**filled, **rest.values}), ReasonEntry, [])


def _find_rule(
    source: EntrySource, entry: ReasonEntry, rules: SubjectDefinitions, problems: list[Problem]
) -> SubjectDefinition | None:
    """
    Return what makes the subjects of an entry; None for the cluster, and after adding a problem.
    """
    of_layer = rules.of_layer(entry.layer)
    if entry.subject is not UNSET:
        named = {rule.kind.kind: rule for rule in of_layer}
        if entry.subject not in named:
            text = (
                f"subject: no pack makes subjects of layer {entry.layer} of kind `{entry.subject}`"
            )
            place = source.node.where("subject")
            offer = suggest_name(entry.subject, named)
            problems.append(Problem(place, f"{entry.reason}: {text}: {offer}"))
        return named.get(entry.subject)
    if entry.layer is Layer.CLUSTER:
        return None
    own = [rule for rule in of_layer if rule.pack == source.pack] or [
        rule for rule in of_layer if rule.plain or len(of_layer) == 1
    ]
    if len(own) == 1:
        return own[0]
    kinds = ", ".join(sorted(rule.kind.kind for rule in own or of_layer))
    text = (
        f"layer {entry.layer} has subjects of several kinds; add `subject`, one of {kinds}"
        if kinds
        else f"no pack makes subjects of layer {entry.layer}; add `subjects`"
    )
    problems.append(Problem(source.node.where("layer"), f"{entry.reason}: {text}"))
    return None


# --------------------------------------------------------------------
# Let probes prepare the parameters of their entries, and place the problems that they find.


def prepare_parameters(
    parsed_entries: ParsedEntries,
    specs: Mapping[str, ProbeSpec],
    kinds: Mapping[str, DeclaredKind],
    problems: list[Problem],
) -> ParsedEntries:
    """
    Return the entries with the parameters that their probes made of them.

    If a probe finds anything wrong, it is added to *problems*, and its entries stay as they are.
    """
    prepared: dict[int, ParsedEntry] = {}
    for spec in specs.values():
        entries = [(i, each) for i, each in enumerate(parsed_entries.all) if each.spec is spec]
        partial = [each for each in parsed_entries.partial if each.spec is spec]
        if spec.prepare is not None and partial:
            wrong = spec.prepare([_given_entry(each) for each in partial], kinds).problems
            problems += [_place(problem, partial) for problem in wrong]
        if spec.prepare is None or not entries:
            continue
        given = [each for _, each in entries]
        found = spec.prepare([_given_entry(each) for each in given], kinds)
        problems += [_place(problem, given) for problem in found.problems]
        if not found.problems:
            for (i, each), parameters in zip(entries, found.parameters, strict=True):
                prepared[i] = replace(each, parameters=parameters)
    made = tuple(prepared.get(i, each) for i, each in enumerate(parsed_entries.all))
    return replace(parsed_entries, all=made)


def _given_entry(parsed: ParsedEntry) -> GivenEntry:
    return GivenEntry(
        Reason(parsed.reason),
        parsed.entry.layer,
        parsed.parameters,
        lambda key: str(_place_of(parsed, key)),
        parsed.enabled,
        parsed.rule,
        parsed.is_partial,
    )


def _place(problem: ParameterProblem, parsed_entries: Sequence[ParsedEntry]) -> Problem:
    parsed = parsed_entries[problem.entry]
    where = f"parameters: {problem.key}: " if problem.key else "probe: "
    place = _place_of(parsed, problem.key, problem.line, problem.column)
    return Problem(place, f"{parsed.reason}: {where}{problem.text}")


def _place_of(parsed: ParsedEntry, key: str, line: int = 0, column: int = 0) -> Place:
    """Return the place of a key of the parameters, or that of a character of its text."""
    if not key:
        return parsed.where("probe")
    parameters = parsed.node.values.get("parameters")
    value = parameters.values.get(key) if isinstance(parameters, Fields) else None
    if line and isinstance(value, Scalar) and value.source is not None:
        return Place(value.place.file, *value.source.locate(line, column))
    return parsed.where("parameters", key)


# --------------------------------------------------------------------
# Build the catalogue from checked entries.


def build_catalogue(parsed_entries: ParsedEntries, rules: SubjectDefinitions) -> Catalogue:
    """
    Build the catalogue of checked entries, each suppression by its row, and the CRDs that probes need.

    A row without a reason says that a missing CRD suppresses what needs it.
    """
    built = (_build_entry(parsed, rules) for parsed in parsed_entries.all)
    entries = {each.reason: each for each in sorted(built, key=_sort_key)}
    required_crds = {
        Reason(d.reason): d.spec.required_crds(d.parameters)
        for d in parsed_entries.all
        if d.spec is not None
    }
    rows = tuple(
        Suppression(Reason(d.reason), Reason(row.reason), row.scope, row.why, row.enabled)
        for d in parsed_entries.all
        for row in d.entry.suppresses
        if row.reason is not UNSET
    )
    crd_rows = [
        (Reason(d.reason), r) for d in parsed_entries.all for r in d.entry.suppresses if r.crd_of
    ]
    return Catalogue(
        MappingProxyType(entries),
        rows,
        next((reason for reason, _ in crd_rows), None),
        MappingProxyType(required_crds),
        rules,
        is_missing_crd_enabled=all(row.enabled for _, row in crd_rows),
    )


def _sort_key(entry: CatalogueEntry) -> tuple[int, str, bool, bool, int, str]:
    """
    Order by layer and kind of subject, then rank; those without a rank follow, and the Ready is the last.
    """
    return (
        entry.layer.order,
        entry.subject_kind,
        entry.is_ready_reason,
        entry.orthogonal,
        entry.rank or 0,
        entry.reason,
    )


def _build_entry(parsed: ParsedEntry, rules: SubjectDefinitions) -> CatalogueEntry:
    entry, rule = parsed.entry, parsed.rule
    probe = "" if entry.probe is UNSET else entry.probe
    remedies: Mapping[str, str] = {} if entry.remedy is UNSET else entry.remedy
    while_out = "" if entry.severity_while_out is UNSET else entry.severity_while_out
    return CatalogueEntry(
        reason=Reason(entry.reason),
        layer=entry.layer,
        type=entry.type,
        owner=entry.owner,
        message_template=entry.message,
        severity=entry.severity,
        severity_while_out=while_out,
        rank=None if entry.rank is UNSET else entry.rank,
        orthogonal=entry.orthogonal,
        probe=probe,
        parameters=parsed.parameters,
        holds=build_holds(entry.hold, with_grace=entry.grace),
        settle=None if entry.settle is UNSET else parse_duration(entry.settle),
        window=None if entry.window is UNSET else parse_duration(entry.window),
        waits_for_grace=entry.grace,
        remedies=MappingProxyType(remedies),
        enabled=parsed.enabled,
        subject_kind=parsed.about[1],
        own_causes=parsed.spec.own_causes if parsed.spec is not None else frozenset(),
        object_kind=rule.kind.kind if rule is not None and rule.message_field else "",
        path=tuple(_build_path(parsed, rules)),
        meaning="" if entry.meaning is UNSET else entry.meaning,
        runbook=() if entry.runbook is UNSET else tuple(entry.runbook),
    )


def _build_path(parsed: ParsedEntry, rules: SubjectDefinitions) -> Iterator[PathRow]:
    """Yield the rows of an entry for subjects that there are: not if all reasons about them are off."""
    kinds = {
        rule.kind.kind: rule.subject_kind for layer in Layer for rule in rules.of_layer(layer)
    }
    for row in parsed.entry.on_path_of:
        names = frozenset(row.except_), frozenset(row.only)
        if row.subject in kinds:
            kind = kinds[row.subject]
            yield PathRow(kind, *names, where_called=row.where_called)


def build_holds(given: Hold | UnsetType, *, with_grace: bool) -> HoldDurations:
    """
    Return the holds of an entry; absent ones have the defaults of HoldDurations.

    *with_grace*: the startup grace governs what is only starting.
    """
    texts: Mapping[str, str | UnsetType] = {} if given is UNSET else msgspec.structs.asdict(given)
    held: dict[str, Any] = {k: parse_duration(t) for k, t in texts.items() if t is not UNSET}
    return replace(HoldDurations(with_grace=with_grace), **held)
