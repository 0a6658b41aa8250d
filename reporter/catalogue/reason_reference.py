"""Render the reference and runbook of the reasons of packs, which the command ``docs`` prints."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from reporter import PROGRAM_NAME
from reporter.catalogue.checks import DEFAULT_REMEDY
from reporter.catalogue.format import ReasonEntry, format_duration
from reporter.catalogue.format_of_kinds import SubjectEntry
from reporter.catalogue.loader import read_folder
from reporter.catalogue.overlay import DEFAULT_PACKS, apply_overlay
from reporter.catalogue.parsed_entries import build_holds
from reporter.catalogue.problems import CatalogueError, Problem
from reporter.catalogue.yaml_reader import read
from reporter.model.enums import EventType, Layer


# --------------------------------------------------------------------
# Read the entries for the rendered pages, which need no probes.


class Chapter(NamedTuple):
    """
    The reasons of one layer of a pack, and what they are about.

    *pack*: empty for what all packs have in common and what an overlay adds.
    """

    layer: Layer
    pack: str
    abouts: Sequence[str]
    entries: Sequence[ReasonEntry]


def read_entries(
    folder: Path, packs: Sequence[str] = DEFAULT_PACKS, overlay: Path | None = None
) -> Sequence[ReasonEntry]:
    """
    Return all entries by layer and rank, the Normal one last. Raise CatalogueError with all problems.
    """
    return sorted((entry for _, entry in _read(folder, packs, overlay)), key=_order)


def read_chapters(
    folder: Path, packs: Sequence[str] = DEFAULT_PACKS, overlay: Path | None = None
) -> Sequence[Chapter]:
    """Return the entries by pack and layer; by layer alone for one pack. Raise CatalogueError."""
    abouts = _read_abouts(folder, packs)
    grouped: defaultdict[tuple[str, Layer], list[ReasonEntry]] = defaultdict(list)
    for pack, entry in _read(folder, packs, overlay):
        grouped[pack if len(packs) > 1 else "", entry.layer].append(entry)
    # Packs in the order in which they are asked for, and what belongs to none as the last.
    order = {pack: number for number, pack in enumerate(dict.fromkeys(pack for pack, _ in abouts))}
    return [
        Chapter(
            layer,
            pack,
            [
                each
                for name, found in abouts
                if pack in ("", name)
                for each in found.get(layer, ())
            ],
            sorted(entries, key=_order),
        )
        for (pack, layer), entries in sorted(
            grouped.items(), key=lambda each: (order.get(each[0][0], len(order)), each[0][1].order)
        )
    ]


def _read(
    folder: Path, packs: Sequence[str], overlay: Path | None
) -> Sequence[tuple[str, ReasonEntry]]:
    """Return the entries with the names of their packs."""
    problems: list[Problem] = []
    given = read_folder(folder, problems, packs)
    if overlay is not None:
        given = apply_overlay(given, overlay, problems)
    found = [(each.pack, read(each.node, ReasonEntry, problems)) for each in given.sources]
    if problems:
        raise CatalogueError(problems)
    return [(pack, entry) for pack, entry in found if entry is not None]


def _read_abouts(
    folder: Path, packs: Sequence[str]
) -> Sequence[tuple[str, Mapping[Layer, Sequence[str]]]]:
    """Return for each pack what the subjects of each layer are, for people."""
    found: defaultdict[str, defaultdict[Layer, list[str]]] = defaultdict(lambda: defaultdict(list))
    for source in read_folder(folder, [], packs).subjects:
        entry = read(source.node, SubjectEntry, [])
        if entry is not None:
            found[source.pack][entry.layer].append(entry.about)
    return tuple(found.items())


def _order(entry: ReasonEntry) -> tuple[int, bool, float, str]:
    rank = float("inf") if entry.rank is UNSET else entry.rank
    return entry.layer.order, entry.type is EventType.NORMAL, rank, entry.reason


INTRODUCTION = f"""\
<!-- Rendered from the catalogue; do not edit. -->
# Reasons

Each section explains one reason of the Events: what it means, what to do first, how long it is held
before it is announced, what the Event says, and which reasons it suppresses. Names in `<angle brackets>` are in the Event's
message; the namespaces of components are those of the default flags.

    kubectl get events -n kube-system --field-selector source={PROGRAM_NAME}

A subject announces its highest-ranked reason (the lowest number) and names the others after `also:`.
Holds are given as declared / failed / lost / starting trouble; *grace* is `--startup-grace-seconds`. Starting trouble
has at least the grace, and no hold with a grace of 0, except of reasons with no grace for new objects.

An [overlay](../catalogue/README.md#an-overlay) switches each reason on or off and sets its parameters, which are given
with their defaults: `window-seconds` is the time for which the trouble must be seen, `progress-window-seconds` the
longest time without progress of an engine that works, `min-…` and `max-…` the least and the highest number that is well
or counts, shares from 0 to 1, `min-ratio` requests that wait for each that runs, `end-share` the part of the least
numbers below which trouble that has begun ends, `restarts` and `failures` how many are trouble. A parameter that ends in
`-flag` names a flag.
`families` are names of metrics: the first of a list that is on the page counts; of a histogram its count is read; of
HTTP requests those to `generating-handlers` count that were not refused with 4xx.
"""
EXPRESSIONS = """\
Reasons with `current` have expressions about the objects of their `kind`: an object is in trouble while `current` is not
true, and `failed` and `inProgress` tell of which kind. [Reasons of your own](own-reasons.md#parameters) explains them.
"""
CLUSTER, CEL = "the control plane of the stack", "cel"


def render_reasons(
    folder: Path, packs: Sequence[str] = DEFAULT_PACKS, overlay: Path | None = None
) -> str:
    """
    Return the page for packs of the catalogue in *folder*. Raise CatalogueError if it cannot be read.
    """
    chapters = read_chapters(folder, packs, overlay)
    entries = [entry for chapter in chapters for entry in chapter.entries]
    parts = [INTRODUCTION]
    if any(entry.probe == CEL for entry in entries):
        parts.append(EXPRESSIONS)
    for chapter in chapters:
        parts.append(f"## {_title(chapter, several=len(packs) > 1)}\n")
        parts += [_section(entry, entries) for entry in chapter.entries]
    return "\n".join(parts)


def _title(chapter: Chapter, *, several: bool) -> str:
    about = " or ".join(chapter.abouts) or CLUSTER
    if not several:
        return f"Layer {chapter.layer}: {about}"
    of = f"Pack {chapter.pack}" if chapter.pack else "Beside the packs"
    return f"{of}, layer {chapter.layer}: {about}"


def _section(entry: ReasonEntry, entries: Iterable[ReasonEntry]) -> str:
    lines = [f"### {entry.reason}", "", _text(entry.meaning), "", *_facts(entry)]
    lines += [*_parameters(entry, entries), f"- Message: `{entry.message}`"]
    if entry.example is not UNSET:
        lines += ["", "Example:", "", f"    {entry.type} {entry.reason} {entry.example}"]
    if entry.runbook is not UNSET:
        lines += [
            "",
            "What to do:",
            "",
            *(f"{number}. {step}" for number, step in enumerate(entry.runbook, start=1)),
        ]
    if entry.remedy is not UNSET:
        lines += [
            "",
            "The remedy in the Event, by code of the cause:",
            "",
            *_remedies(entry.remedy),
        ]
    rows = [*_hinders(entry), *_suppressed_by_it(entry), *_suppresses_it(entry, entries)]
    return "\n".join([*lines, *(["", *rows] if rows else []), ""])


def _text(text: object) -> str:
    return "" if text is UNSET else str(text)


def _facts(entry: ReasonEntry) -> Iterator[str]:
    yield f"- Layer: {entry.layer}"
    if entry.type is EventType.NORMAL:
        yield "- Type: Normal"
        return
    yield f"- Rank: {'none; announced on its own' if entry.rank is UNSET else entry.rank}"
    if not entry.enabled:
        yield "- Off by default: an overlay of the catalogue switches it on with `enabled: true`"
    yield f"- Owner, who must act: {entry.owner}"
    out = (
        "" if entry.severity_while_out is UNSET else f"; while out also {entry.severity_while_out}"
    )
    yield f"- Severity of its alerts: {entry.severity}{out}"
    held = build_holds(entry.hold, with_grace=entry.grace)
    holds = (format_duration(h) for h in (held.declared, held.failed, held.lost, held.starting))
    yield f"- Holds: {' / '.join(holds)}{'' if entry.grace else '; no grace for new objects'}"
    if entry.settle is not UNSET:
        yield f"- Settle, before it ends: {entry.settle}"


def _parameters(entry: ReasonEntry, entries: Iterable[ReasonEntry]) -> Iterator[str]:
    """Yield the parameters; lists of objects, such as components, are in the catalogue only."""
    given = {} if entry.parameters is UNSET else entry.parameters
    if entry.probe == CEL:
        yield from _expressions(given)
        return
    plain = {name: value for name, value in given.items() if _is_plain(value)}
    if plain:
        shown = ", ".join(f"`{name}: {_value(value)}`" for name, value in plain.items())
        yield f"- Parameters: {shown}"
    for name, value in given.items():
        if isinstance(value, Mapping) and all(map(_is_plain, value.values())):
            yield f"- Parameters `{name}`: {_mapping(entry, name, value, entries)}"


def _expressions(given: Mapping[str, object]) -> Iterator[str]:
    """Yield the parameters that decide when a reason in CEL is announced, one a line."""
    for name in ("kind", "current", "failed", "inProgress"):
        if name in given:
            yield f"- `{name}`:{_code(str(given[name]))}"
    values = given.get("parameters")
    for name, value in values.items() if isinstance(values, Mapping) else ():
        yield f"- `parameters.{name}`: `{_value(value)}`"


def _code(text: str) -> str:
    """
    Return an expression as code after a colon: on one line, unless its line breaks have a meaning.
    """
    lines = [line.rstrip() for line in text.strip().splitlines()]
    if "`" in text or (len(lines) > 1 and any(mark in text for mark in ("//", '"""', "'''"))):
        return "\n".join(["", "", *(f"  {line}".rstrip() for line in ("```", *lines, "```"))])
    return f" `{' '.join(line.lstrip() for line in lines if line)}`"


def _mapping(
    entry: ReasonEntry, name: str, value: Mapping[str, object], entries: Iterable[ReasonEntry]
) -> str:
    earlier = takewhile(lambda each: each is not entry, entries)
    for other in earlier:
        if other.parameters is not UNSET and other.parameters.get(name) == value:
            return f"those of {_link(other.reason)}"
    return ", ".join(f"`{key}: {_value(each)}`" for key, each in value.items())


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return all(not isinstance(each, list | Mapping) for each in value)
    return not isinstance(value, Mapping)


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _remedies(remedies: Mapping[str, str]) -> Iterator[str]:
    """Yield the remedy of each code, that of all others as the last."""
    for code, remedy in sorted(remedies.items(), key=lambda each: each[0] == DEFAULT_REMEDY):
        yield f"- {'any other' if code == DEFAULT_REMEDY else f'`{code}`'}: {remedy}"


def _hinders(entry: ReasonEntry) -> Iterator[str]:
    for row in entry.on_path_of:
        limits = (
            [f"not for {', '.join(f'`{each}`' for each in row.except_)}"] if row.except_ else []
        )
        limits += [f"only for {', '.join(f'`{each}`' for each in row.only)}"] if row.only else []
        limits += ["only where an EnvoyFilter calls it"] if row.where_called else []
        text = f" ({'; '.join(limits)})" if limits else ""
        yield f"- While it is out, no {row.subject} is available{text}. {row.why}"


def _suppressed_by_it(entry: ReasonEntry) -> Iterator[str]:
    for row in entry.suppresses:
        if not row.enabled:
            continue
        target = "every reason whose probe needs the missing CRD"
        if row.reason is not UNSET:
            target = _link(row.reason)
        yield f"- Suppresses {target} (scope: {row.scope}). {row.why}"


def _suppresses_it(entry: ReasonEntry, entries: Iterable[ReasonEntry]) -> Iterator[str]:
    for other in entries:
        if any(row.enabled and row.reason == entry.reason for row in other.suppresses):
            yield f"- Suppressed by {_link(other.reason)}."


def _link(reason: str) -> str:
    return f"[{reason}](#{reason.lower()})"
