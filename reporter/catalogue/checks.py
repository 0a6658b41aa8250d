"""Checks among the entries of a catalogue. Each is pure and yields every problem that it finds."""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from string import Formatter
from typing import TypeAlias

from msgspec import UNSET

from reporter.catalogue.entries import Scope
from reporter.catalogue.format import Suppresses
from reporter.catalogue.parsed_entries import Draft, Drafts, KnownNames
from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml_nodes import Fields, Items, Node, Scalar
from reporter.model.enums import EventType, Layer


# --------------------------------------------------------------------
# Check the suppression rows: their targets exist, are of the same layer or a lower, in no cycle.


MAX_SHOWN_OF_A_CYCLE = 20


def check_suppressions(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    """
    Yield the problems of suppression rows: their form, their target and scope, and cycles among them.
    """
    by_name = {draft.reason: draft for draft in drafts.all}
    for draft in drafts.all:
        for row, place in suppression_rows(draft):
            target = (
                _target_problem(draft, row, by_name, drafts.names)
                if row.reason is not UNSET
                else ""
            )
            for text in (_row_form_problem(row), _scope_problem(draft, row), target):
                if text:
                    yield Problem(place, f"{draft.reason}: suppresses: {text}")
    yield from _check_single_crd_source(drafts)
    yield from _check_cycles(by_name)


def suppression_rows(draft: Draft) -> Iterator[tuple[Suppresses, Place]]:
    """Yield the rows of an entry, each with its line."""
    listed = draft.node.values.get("suppresses")
    items = listed.items if isinstance(listed, Items) else ()
    for row, node in zip(draft.entry.suppresses, items, strict=True):
        place = node.where("reason") if isinstance(node, Fields) else node.place
        yield row, place


def _row_form_problem(row: Suppresses) -> str:
    if (row.reason is UNSET) == row.crd_of:
        return ""
    return "a row names a `reason`, or has `crd-of: true`; write one of the two"


def _scope_problem(source: Draft, row: Suppresses) -> str:
    below = source.entry.layer is not Layer.CLUSTER
    if below and row.scope is Scope.CLUSTER:
        return "a reason of one namespace suppresses none of another; write `scope: namespace`"
    if not below and row.scope is Scope.NAMESPACE:
        return "a reason of the cluster has no namespace; write `scope: cluster`"
    return ""


def _target_problem(
    source: Draft, row: Suppresses, by_name: Mapping[str, Draft], names: frozenset[str]
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


def _check_single_crd_source(drafts: Drafts) -> Iterable[Problem]:
    found = [(d, place) for d in drafts.all for row, place in suppression_rows(d) if row.crd_of]
    for draft, place in found[1:]:
        first = found[0][0].reason
        text = f"{draft.reason}: suppresses: {first} has `crd-of: true` already; remove this row"
        yield Problem(place, text)


def _check_cycles(by_name: Mapping[str, Draft]) -> Iterable[Problem]:
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


def _cycle_problem(cycle: Sequence[str], by_name: Mapping[str, Draft]) -> Problem:
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


def _rows_before_cycles(by_name: Mapping[str, Draft]) -> Mapping[str, Sequence[str]]:
    """
    Return the reasons from which rows lead to a cycle, each with the reasons that it suppresses.

    A row to itself is no cycle here. The search is only for these, so its time grows with the
    number of cycles and not with the square of the number of reasons.
    """
    rows = {
        name: [str(row.reason) for row in draft.entry.suppresses if row.reason in by_name]
        for name, draft in by_name.items()
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


def check_paths(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    """
    Yield the problems of rows of ``on-path-of``.

    No pack makes the subjects, or the reason is about another one than they are.
    """
    kinds = {rule.kind.kind for rule in known.subjects.all if not rule.is_of_namespaces}
    for draft in drafts.all:
        listed = draft.node.values.get("on-path-of")
        nodes = listed.items if isinstance(listed, Items) else ()
        for row, node in zip(draft.entry.on_path_of, nodes, strict=True):
            text = _path_problem(draft, row.subject, kinds)
            if text and (known.knows_all_subjects or row.subject in kinds):
                place = node.where("subject") if isinstance(node, Fields) else node.place
                yield Problem(place, f"{draft.reason}: on-path-of: {text}")


def _path_problem(draft: Draft, subject: str, kinds: Collection[str]) -> str:
    if subject not in kinds:
        return f"no pack makes subjects of kind `{subject}`: {suggest_name(subject, kinds)}"
    own = draft.rule.kind.kind if draft.rule is not None else subject
    if draft.entry.layer is Layer.MODELDEPLOYMENT and subject != own:
        return f"a finding about one {own} hinders the requests of no {subject}; name `{own}`"
    return ""


# --------------------------------------------------------------------
# Check the fields in braces of a text that is filled in when an Event is written.


def check_template(
    draft: Draft, template: str, allowed: Collection[str], *path: str
) -> Iterable[Problem]:
    """
    Yield the problems of a message or a remedy: braces that do not match, and fields not in *allowed*.

    *path*: the keys of the template in its entry.
    """
    name = ".".join(path)
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as err:
        yield draft.problem(f"{name}: {err}; write {{{{ and }}}} for braces", *path)
        return
    for _, field, spec, how in parsed:
        if field is None:
            continue
        if spec or how or not field.isidentifier():
            text = f"{name}: `{{{field}}}` must be a plain name in braces, such as {{object}}"
            yield draft.problem(text, *path)
        elif field not in allowed:
            text = f"{name}: unknown field `{{{field}}}`: {suggest_name(field, allowed)}"
            yield draft.problem(text, *path)


def field_names(template: str) -> frozenset[str]:
    """Return the names in braces; none if the template cannot be parsed."""
    try:
        return frozenset(field for _, field, _, _ in Formatter().parse(template) if field)
    except ValueError:
        return frozenset()


# --------------------------------------------------------------------
# Check that parameters which name a flag of the process name one that exists.


FLAG_KEY_SUFFIX = "-flag"


def check_flags(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    """
    Yield each parameter that names a flag which the process does not have, with the nearest name.
    """
    for draft in drafts.all:
        parameters = draft.node.values.get("parameters")
        if draft.spec is None or parameters is None:
            continue
        for place, key, flag in _flag_references(parameters):
            if flag not in known.flags:
                offer = suggest_name(flag, known.flags)
                text = f"{draft.reason}: parameters: {key}: unknown flag `{flag}`: {offer}"
                yield Problem(place, text)


def _flag_references(node: Node) -> Iterable[tuple[Place, str, str]]:
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


def check_messages(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    """
    Yield the problems of messages: a field that no probe fills, no name of the subject, or a URL.

    An entry without subjects is left out, as it was reported already.
    """
    for draft in drafts.all:
        if not draft.lacks_subjects:
            yield from _check_message(draft)


def _check_message(draft: Draft) -> Iterable[Problem]:
    message = draft.entry.message
    # Nobody knows the fields of a probe that there is not.
    is_known = draft.spec is not None or draft.entry.probe is UNSET
    allowed = draft.subject_fields if is_known else field_names(message)
    if draft.entry.type is not EventType.NORMAL and draft.spec is not None:
        allowed |= draft.spec.message_fields | {FOREIGN_TEXT_FIELD}
    problems = list(check_template(draft, message, allowed, "message"))
    yield from problems
    named = field_names(message)
    for field in sorted(draft.subject_fields - named):
        if named or not problems:
            yield draft.problem(f"message: must name its subject; add {{{field}}}", "message")
    if "://" in message:
        yield draft.problem("message: an Event must not contain a URL; remove it", "message")


# --------------------------------------------------------------------
# Check that ranks are unique among the reasons of a subject, so that it has one primary.


def check_ranks(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    """Yield each rank that another reason about the same kind of subject has already."""
    first_with_rank: dict[tuple[tuple[Layer, str], int], Draft] = {}
    for draft in drafts.all:
        if draft.entry.rank is UNSET:
            continue
        other = first_with_rank.setdefault((draft.about, draft.entry.rank), draft)
        if other.reason != draft.reason:
            # The rank of an overlay is reported, else that of the later entry.
            by_overlay = other.where("rank").file != other.node.place.file
            later, earlier = (other, draft) if by_overlay else (draft, other)
            text = (
                f"rank {draft.entry.rank} is taken by {earlier.reason}"
                f" ({earlier.where('rank')}); choose another"
            )
            yield later.problem(text, "rank")


# --------------------------------------------------------------------
# Check that each layer has one Normal reason for a kind of subject, the one that ends its episodes.


def check_ready_reasons(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    """
    Yield each kind of subject that has several Normal reasons, or none to announce its recovery.

    A missing one is not reported while some entries could not be read.
    """
    by_subject: defaultdict[tuple[Layer, str], list[Draft]] = defaultdict(list)
    for draft in drafts.all:
        by_subject[draft.about].append(draft)
    unreadable = len(drafts.all) != len(drafts.names)
    for (layer, subject_kind), found in by_subject.items():
        where = f"layer {layer}" + (f" for {subject_kind}" if subject_kind else "")
        ready = [d for d in found if d.entry.type is EventType.NORMAL]
        for draft in ready[1:]:
            if draft.reason != ready[0].reason:
                text = f"{ready[0].reason} is the Normal reason of {where} already; remove one"
                yield draft.problem(text, "type")
        if not ready and not unreadable:
            text = (
                f"{where} has no reason of type Normal that announces recovery;"
                " add one, such as clusterReady"
            )
            yield Problem(Place(found[0].node.place.file, 1), text)


# --------------------------------------------------------------------
# Check that every Warning says what to do, and for no cause that its probe does not know.


DEFAULT_REMEDY = "default"


def check_remedies(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    """
    Yield the problems of the remedies of Warnings: no default, an unknown cause code, or a URL.
    """
    for draft in drafts.all:
        if draft.spec is None or draft.lacks_subjects:
            continue
        if draft.entry.type is EventType.WARNING:
            fields = draft.subject_fields | draft.spec.message_fields
            codes = None if draft.spec.any_cause_code else draft.spec.cause_codes
            yield from _check_remedy(draft, codes, fields)


def _check_remedy(
    draft: Draft, codes: frozenset[str] | None, fields: frozenset[str]
) -> Iterable[Problem]:
    """Yield the problems of the remedies. *codes*: None if there may be any."""
    remedy = {} if draft.entry.remedy is UNSET else draft.entry.remedy
    if DEFAULT_REMEDY not in remedy:
        text = "remedy: `default` is missing: say what to do about causes that have no remedy of their own"
        yield draft.problem(text, "remedy")
    for code, sentence in remedy.items():
        yield from check_template(draft, sentence, fields, "remedy", code)
        if codes is not None and not {*code.split(".", 1)} <= codes | {DEFAULT_REMEDY}:
            offer = suggest_name(code, codes)
            yield draft.problem(f"remedy: unknown code `{code}`: {offer}", "remedy", code)
        if "://" in sentence:
            text = f"remedy.{code}: an Event must not contain a URL; remove it"
            yield draft.problem(text, "remedy", code)


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


def check_required_keys(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    """
    Yield reasons that are defined twice, named without their prefix, or have keys of the other type.
    """
    seen: dict[str, Draft] = {}
    for draft in drafts.all:
        if draft.reason in seen:
            first = seen[draft.reason].where("reason")
            text = f"this reason is defined at {first} already; remove one of the two"
            yield draft.problem(text, "reason")
        seen.setdefault(draft.reason, draft)
        yield from _check_name(draft)
        yield from (
            _check_normal_entry(draft)
            if draft.entry.type is EventType.NORMAL
            else _check_warning_entry(draft)
        )


def _check_name(draft: Draft) -> Iterable[Problem]:
    if draft.lacks_subjects:
        return
    prefix = draft.rule.prefix if draft.rule is not None else CLUSTER_PREFIX
    if not draft.reason.startswith(prefix) or not draft.reason[len(prefix) :][:1].isupper():
        text = f"reasons of layer {draft.entry.layer} begin with `{prefix}`; rename it"
        yield draft.problem(text, "reason")


def _check_normal_entry(draft: Draft) -> Iterable[Problem]:
    for key in WARNING_ONLY_KEYS:
        if key in draft.node.values:
            text = f"a Normal reason has no probe and no `{key}`; remove it"
            yield draft.problem(text, key)
    if not draft.enabled:
        text = "it ends the episodes of its layer and cannot be switched off; remove `enabled`"
        yield Problem(draft.node.where("enabled"), f"{draft.reason}: {text}")


def _check_warning_entry(draft: Draft) -> Iterable[Problem]:
    if "probe" not in draft.node.values:
        yield draft.problem("a Warning needs a `probe` that evaluates it; add it", "reason")
    ranked = "rank" in draft.node.values
    if ranked and draft.entry.orthogonal:
        # An overlay may have set the rank: then the error names its line.
        by_overlay = draft.where("rank").file != draft.where("orthogonal").file
        where = "rank" if by_overlay else "orthogonal"
        text = "has a rank and is orthogonal; remove one of the two"
        yield draft.problem(text, where)
    if not ranked and not draft.entry.orthogonal:
        yield draft.problem("needs a `rank`, or `orthogonal: true`; add one", "reason")


Check: TypeAlias = Callable[[Drafts, KnownNames], Iterable[Problem]]

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
