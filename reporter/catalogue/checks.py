"""Checks among the entries of a catalogue. Each is pure and yields every problem that it finds."""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from string import Formatter
from typing import TypeAlias, TypeVar

from msgspec import UNSET

from reporter.catalogue.entries import Scope
from reporter.catalogue.format import Suppresses
from reporter.catalogue.parsed_entries import KnownNames, ParsedEntries, ParsedEntry
from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml_nodes import Fields, Items, Scalar, YamlNode
from reporter.model.enums import EventType, Layer


T = TypeVar("T")


# --------------------------------------------------------------------
# Check the suppression rows: their targets exist, are of the same layer or a lower, in no cycle.


MAX_SHOWN_OF_A_CYCLE = 20


def check_suppressions(parsed_entries: ParsedEntries, known: KnownNames) -> Iterable[Problem]:
    """
    Yield the problems of suppression rows: their form, their target and scope, and cycles among them.
    """
    by_name = {parsed.reason: parsed for parsed in parsed_entries.all}
    for parsed in parsed_entries.all:
        for row, place in suppression_rows(parsed):
            target = (
                _target_problem(parsed, row, by_name, parsed_entries.names)
                if row.reason is not UNSET
                else ""
            )
            for text in (_row_form_problem(row), _scope_problem(parsed, row), target):
                if text:
                    yield Problem(place, f"{parsed.reason}: suppresses: {text}")
    yield from _check_single_crd_source(parsed_entries)
    yield from _check_cycles(by_name)


def suppression_rows(parsed: ParsedEntry) -> Iterator[tuple[Suppresses, Place]]:
    """Yield the rows under ``suppresses`` of an entry, each with its place for problems to name."""
    return _with_places(parsed.entry.suppresses, parsed.node.items_of("suppresses"), "reason")


def _with_places(
    rows: Iterable[T], nodes: Iterable[YamlNode], key: str
) -> Iterator[tuple[T, Place]]:
    """Yield the rows of a list, each with the line of its *key*."""
    for row, node in zip(rows, nodes, strict=True):
        yield row, node.where(key) if isinstance(node, Fields) else node.place


def _row_form_problem(row: Suppresses) -> str:
    if (row.reason is UNSET) == row.crd_of:
        return ""
    return "a row names a `reason`, or has `crd-of: true`; write one of the two"


def _scope_problem(source: ParsedEntry, row: Suppresses) -> str:
    below = source.entry.layer is not Layer.CLUSTER
    if below and row.scope is Scope.CLUSTER:
        return "a reason of one namespace suppresses none of another; write `scope: namespace`"
    if not below and row.scope is Scope.NAMESPACE:
        return "a reason of the cluster has no namespace; write `scope: cluster`"
    return ""


def _target_problem(
    source: ParsedEntry, row: Suppresses, by_name: Mapping[str, ParsedEntry], names: frozenset[str]
) -> str:
    name = str(row.reason)
    if name not in names:
        return f"unknown reason `{name}`: {suggest_name(name, names)}"
    if name == source.reason:
        return "a reason cannot suppress itself; remove the row"
    target = by_name.get(name)
    if target is None:
        return ""
    if target.entry.type is EventType.NORMAL:
        return f"{name} is Normal and cannot be suppressed; remove the row"
    if target.entry.layer.order < source.entry.layer.order:
        return f"{name} belongs to the higher layer {target.entry.layer}; remove the row"
    return ""


def _check_single_crd_source(parsed_entries: ParsedEntries) -> Iterable[Problem]:
    found = [
        (d, place) for d in parsed_entries.all for row, place in suppression_rows(d) if row.crd_of
    ]
    for parsed, place in found[1:]:
        first = found[0][0].reason
        text = f"{parsed.reason}: suppresses: {first} has `crd-of: true` already; remove this row"
        yield Problem(place, text)


def _check_cycles(by_name: Mapping[str, ParsedEntry]) -> Iterable[Problem]:
    """Yield each cycle once, placed at the row of its alphabetically first reason."""
    rows = _rows_before_cycles(by_name)
    found: set[str] = set()
    for start in sorted(rows):
        # One search covers a whole cycle, however long it is.
        path = () if start in found else _find_cycle(start, rows)
        if path:
            found.update(path)
            yield _cycle_problem(_from_first(path), by_name)


def _from_first(cycle: Sequence[str]) -> Sequence[str]:
    """Return a cycle that begins and ends with its alphabetically first reason."""
    names = cycle[:-1]
    first = names.index(min(names))
    return (*names[first:], *names[: first + 1])


def _cycle_problem(cycle: Sequence[str], by_name: Mapping[str, ParsedEntry]) -> Problem:
    name, target, *_ = cycle
    row = next(p for r, p in suppression_rows(by_name[name]) if r.reason == target)
    left_out = len(cycle) - MAX_SHOWN_OF_A_CYCLE
    shown = (
        (*cycle[: MAX_SHOWN_OF_A_CYCLE - 1], f"{left_out} more", cycle[-1])
        if left_out > 1
        else cycle
    )
    text = f"suppresses: a cycle: {' > '.join(shown)}; remove one of its rows"
    return Problem(row, f"{name}: {text}")


def _rows_before_cycles(by_name: Mapping[str, ParsedEntry]) -> Mapping[str, Sequence[str]]:
    """
    Return the reasons from which rows lead to a cycle, each with the reasons that it suppresses.

    A row to itself is no cycle here. The search is only for these, so its time grows with the
    number of cycles and not with the square of the number of reasons.
    """
    rows = {
        name: [str(row.reason) for row in parsed.entry.suppresses if row.reason in by_name]
        for name, parsed in by_name.items()
    }
    rows = {name: [each for each in row if each != name] for name, row in rows.items()}
    sorter = TopologicalSorter(rows)
    with suppress(CycleError):
        sorter.prepare()
    while ready := sorter.get_ready():
        sorter.done(*ready)
        for name in ready:
            del rows[name]
    return {name: [each for each in row if each in rows] for name, row in rows.items()}


def _find_cycle(start: str, rows: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the shortest cycle through *start*; empty if there is none."""
    suppressed_by = {start: ""}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        for target in rows[name]:
            if target == start:
                return (*_path_to(name, suppressed_by), start)
            if target not in suppressed_by:
                suppressed_by[target] = name
                queue.append(target)
    return ()


def _path_to(name: str, suppressed_by: Mapping[str, str]) -> Sequence[str]:
    path = [name]
    while suppressed_by[path[-1]]:
        path.append(suppressed_by[path[-1]])
    return path[::-1]


# --------------------------------------------------------------------
# Check the rows of the path of requests: they name subjects that exist and that the reason can concern.


def check_paths(parsed_entries: ParsedEntries, known: KnownNames) -> Iterable[Problem]:
    """
    Yield the problems of rows of ``on-path-of``.

    A row is wrong if no pack makes its subjects, or if the reason is about a model of another kind.
    """
    kinds = {rule.kind.kind for rule in known.subjects.all if not rule.is_of_namespaces}
    for parsed in parsed_entries.all:
        nodes = parsed.node.items_of("on-path-of")
        for row, place in _with_places(parsed.entry.on_path_of, nodes, "subject"):
            text = _path_problem(parsed, row.subject, kinds)
            if text and (known.knows_all_subjects or row.subject in kinds):
                yield Problem(place, f"{parsed.reason}: on-path-of: {text}")


def _path_problem(parsed: ParsedEntry, subject: str, kinds: Collection[str]) -> str:
    if subject not in kinds:
        return f"no pack makes subjects of kind `{subject}`: {suggest_name(subject, kinds)}"
    own = parsed.rule.kind.kind if parsed.rule is not None else subject
    if parsed.entry.layer is Layer.MODELDEPLOYMENT and subject != own:
        return f"a finding about one {own} hinders the requests of no {subject}; name `{own}`"
    return ""


# --------------------------------------------------------------------
# Check the fields in braces of a text that is filled in when an Event is written.


def check_template(
    parsed: ParsedEntry, template: str, allowed: Collection[str], *path: str
) -> Iterable[Problem]:
    """
    Yield the problems of a message or a remedy: braces that do not match, and fields not in *allowed*.

    *path*: the keys of the template in its entry.
    """
    name = ".".join(path)
    try:
        pieces = list(Formatter().parse(template))
    except ValueError as err:
        yield parsed.problem(f"{name}: {err}; write {{{{ and }}}} for braces", *path)
        return
    for _, field, spec, how in pieces:
        if field is None:
            continue
        if spec or how or not field.isidentifier():
            text = f"{name}: `{{{field}}}` must be a plain name in braces, such as {{object}}"
            yield parsed.problem(text, *path)
        elif field not in allowed:
            text = f"{name}: unknown field `{{{field}}}`: {suggest_name(field, allowed)}"
            yield parsed.problem(text, *path)


def field_names(template: str) -> frozenset[str]:
    """Return the names in braces; none if the template cannot be parsed."""
    try:
        return frozenset(field for _, field, _, _ in Formatter().parse(template) if field)
    except ValueError:
        return frozenset()


# --------------------------------------------------------------------
# Check that parameters which name a flag of the process name one that exists.


FLAG_KEY_SUFFIX = "-flag"


def check_flags(parsed_entries: ParsedEntries, known: KnownNames) -> Iterable[Problem]:
    """
    Yield each parameter that names a flag which the process does not have, with the nearest name.
    """
    for parsed in parsed_entries.all:
        parameters = parsed.node.values.get("parameters")
        if parsed.spec is None or parameters is None:
            continue
        for place, key, flag in _flag_references(parameters):
            if flag not in known.flags:
                offer = suggest_name(flag, known.flags)
                text = f"{parsed.reason}: parameters: {key}: unknown flag `{flag}`: {offer}"
                yield Problem(place, text)


def _flag_references(node: YamlNode) -> Iterable[tuple[Place, str, str]]:
    """
    Yield place, key and flag of every key that names a flag, at any depth; skip empty values.
    """
    if isinstance(node, Items):
        for item in node.items:
            yield from _flag_references(item)
    elif isinstance(node, Fields):
        for key, value in node.values.items():
            if key.endswith(FLAG_KEY_SUFFIX) and isinstance(value, Scalar) and value.value:
                yield node.where(key), key, str(value.value)
            yield from _flag_references(value)


# --------------------------------------------------------------------
# Check that a message names its subject, and only fields that its probe fills.


FOREIGN_TEXT_FIELD = "foreign"


def check_messages(parsed_entries: ParsedEntries, known: KnownNames) -> Iterable[Problem]:
    """
    Yield the problems of messages: a field that no probe fills, no name of the subject, or a URL.

    An entry without subjects is left out, as it was reported already.
    """
    for parsed in parsed_entries.all:
        if not parsed.lacks_subjects:
            yield from _check_message(parsed)


def _check_message(parsed: ParsedEntry) -> Iterable[Problem]:
    message = parsed.entry.message
    # Nobody knows the fields of a probe that there is not.
    is_known = parsed.spec is not None or parsed.entry.probe is UNSET
    allowed = parsed.subject_fields if is_known else field_names(message)
    if parsed.entry.type is not EventType.NORMAL and parsed.spec is not None:
        allowed |= parsed.spec.message_fields | {FOREIGN_TEXT_FIELD}
    problems = list(check_template(parsed, message, allowed, "message"))
    yield from problems
    named = field_names(message)
    for field in sorted(parsed.subject_fields - named):
        if named or not problems:
            yield parsed.problem(f"message: must name its subject; add {{{field}}}", "message")
    if "://" in message:
        yield parsed.problem("message: an Event must not contain a URL; remove it", "message")


# --------------------------------------------------------------------
# Check that ranks are unique among the reasons of a subject, so that it has one primary.


def check_ranks(parsed_entries: ParsedEntries, known: KnownNames) -> Iterable[Problem]:
    """Yield each rank that another reason about the same kind of subject has already."""
    first_with_rank: dict[tuple[tuple[Layer, str], int], ParsedEntry] = {}
    for parsed in parsed_entries.all:
        if parsed.entry.rank is UNSET:
            continue
        other = first_with_rank.setdefault((parsed.about, parsed.entry.rank), parsed)
        if other.reason != parsed.reason:
            # The rank of an overlay is reported, else that of the later entry.
            by_overlay = other.where("rank").file != other.node.place.file
            later, earlier = (other, parsed) if by_overlay else (parsed, other)
            text = (
                f"rank {parsed.entry.rank} is taken by {earlier.reason}"
                f" ({earlier.where('rank')}); choose another"
            )
            yield later.problem(text, "rank")


# --------------------------------------------------------------------
# Check that each layer has one Normal reason for a kind of subject, the one that ends its episodes.


def check_ready_reasons(parsed_entries: ParsedEntries, known: KnownNames) -> Iterable[Problem]:
    """
    Yield each kind of subject that has several Normal reasons, or none to announce its recovery.

    A missing one is not reported while some entries could not be read.
    """
    by_subject: defaultdict[tuple[Layer, str], list[ParsedEntry]] = defaultdict(list)
    for parsed in parsed_entries.all:
        by_subject[parsed.about].append(parsed)
    unreadable = len(parsed_entries.all) != len(parsed_entries.names)
    for (layer, subject_kind), found in by_subject.items():
        where = f"layer {layer}" + (f" for {subject_kind}" if subject_kind else "")
        ready = [d for d in found if d.entry.type is EventType.NORMAL]
        for parsed in ready[1:]:
            if parsed.reason != ready[0].reason:
                text = f"{ready[0].reason} is the Normal reason of {where} already; remove one"
                yield parsed.problem(text, "type")
        if not ready and not unreadable:
            text = (
                f"{where} has no reason of type Normal that announces recovery;"
                " add one, such as clusterReady"
            )
            yield Problem(Place(found[0].node.place.file, 1), text)


# --------------------------------------------------------------------
# Check that every Warning says what to do, and for no cause that its probe does not know.


DEFAULT_REMEDY = "default"


def check_remedies(parsed_entries: ParsedEntries, known: KnownNames) -> Iterable[Problem]:
    """
    Yield the problems of the remedies of Warnings: no default, an unknown cause code, or a URL.
    """
    for parsed in parsed_entries.all:
        if parsed.spec is None or parsed.lacks_subjects:
            continue
        if parsed.entry.type is EventType.WARNING:
            fields = parsed.subject_fields | parsed.spec.message_fields
            codes = None if parsed.spec.any_cause_code else parsed.spec.cause_codes
            yield from _check_remedy(parsed, codes, fields)


def _check_remedy(
    parsed: ParsedEntry, codes: frozenset[str] | None, fields: frozenset[str]
) -> Iterable[Problem]:
    """Yield the problems of the remedies. *codes*: None if there may be any."""
    remedy = {} if parsed.entry.remedy is UNSET else parsed.entry.remedy
    if DEFAULT_REMEDY not in remedy:
        text = "remedy: `default` is missing: say what to do about causes that have no remedy of their own"
        yield parsed.problem(text, "remedy")
    for code, sentence in remedy.items():
        yield from check_template(parsed, sentence, fields, "remedy", code)
        if codes is not None and not {*code.split(".", 1)} <= codes | {DEFAULT_REMEDY}:
            offer = suggest_name(code, codes)
            yield parsed.problem(f"remedy: unknown code `{code}`: {offer}", "remedy", code)
        if "://" in sentence:
            text = f"remedy.{code}: an Event must not contain a URL; remove it"
            yield parsed.problem(text, "remedy", code)


# --------------------------------------------------------------------
# Check the keys that an entry of its type must and must not have, and the prefix of its name.


CLUSTER_PREFIX = "cluster"
WARNING_ONLY_KEYS = (
    "probe",
    "parameters",
    "rank",
    "orthogonal",
    "hold",
    "settle",
    "window",
    "remedy",
    "runbook",
    "suppresses",
    "on-path-of",
)


def check_required_keys(parsed_entries: ParsedEntries, known: KnownNames) -> Iterable[Problem]:
    """
    Yield reasons that are defined twice or lack their prefix, and keys that do not fit a reason's type.
    """
    seen: dict[str, ParsedEntry] = {}
    for parsed in parsed_entries.all:
        if parsed.reason in seen:
            first = seen[parsed.reason].where("reason")
            text = f"this reason is defined at {first} already; remove one of the two"
            yield parsed.problem(text, "reason")
        seen.setdefault(parsed.reason, parsed)
        yield from _check_name(parsed)
        yield from (
            _check_normal_entry(parsed)
            if parsed.entry.type is EventType.NORMAL
            else _check_warning_entry(parsed)
        )


def _check_name(parsed: ParsedEntry) -> Iterable[Problem]:
    if parsed.lacks_subjects:
        return
    prefix = parsed.rule.prefix if parsed.rule is not None else CLUSTER_PREFIX
    if not parsed.reason.startswith(prefix) or not parsed.reason[len(prefix) :][:1].isupper():
        text = f"reasons of layer {parsed.entry.layer} begin with `{prefix}`; rename it"
        yield parsed.problem(text, "reason")


def _check_normal_entry(parsed: ParsedEntry) -> Iterable[Problem]:
    for key in WARNING_ONLY_KEYS:
        if key in parsed.node.values:
            text = f"a Normal reason has no probe and no `{key}`; remove it"
            yield parsed.problem(text, key)
    if not parsed.enabled:
        text = "it ends the episodes of its layer and cannot be switched off; remove `enabled`"
        yield Problem(parsed.node.where("enabled"), f"{parsed.reason}: {text}")


def _check_warning_entry(parsed: ParsedEntry) -> Iterable[Problem]:
    if "probe" not in parsed.node.values:
        yield parsed.problem("a Warning needs a `probe` that evaluates it; add it", "reason")
    ranked = "rank" in parsed.node.values
    if ranked and parsed.entry.orthogonal:
        # An overlay may have set the rank: then the error names its line.
        by_overlay = parsed.where("rank").file != parsed.where("orthogonal").file
        where = "rank" if by_overlay else "orthogonal"
        text = "has a rank and is orthogonal; remove one of the two"
        yield parsed.problem(text, where)
    if not ranked and not parsed.entry.orthogonal:
        yield parsed.problem("needs a `rank`, or `orthogonal: true`; add one", "reason")


Check: TypeAlias = Callable[[ParsedEntries, KnownNames], Iterable[Problem]]

CHECKS: tuple[Check, ...] = (
    check_required_keys,
    check_ready_reasons,
    check_ranks,
    check_messages,
    check_remedies,
    check_flags,
    check_suppressions,
    check_paths,
)
