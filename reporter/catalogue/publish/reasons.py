"""
Render docs/reasons.md, the reference and runbook of all reasons.

``python -m reporter.catalogue.publish.reasons docs/reasons.md`` writes it.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from msgspec import UNSET

from reporter import PROGRAM_NAME
from reporter.catalogue.builder import build_holds
from reporter.catalogue.durations import format_duration
from reporter.catalogue.format import ReasonEntry
from reporter.catalogue.loader import default_folder
from reporter.catalogue.publish.entries import read_entries
from reporter.model.enums import EventType, Layer


INTRODUCTION = f"""\
<!-- Rendered from catalogue/*.yaml by python -m reporter.catalogue.publish.reasons; do not edit. -->
# Reasons

Each section explains one reason of the Events: what it means, what to do first, how long it is held
before it is announced, and which reasons it suppresses. Names in `<angle brackets>` are in the Event's
message; the namespaces of components are those of the default flags.

    kubectl get events -n kube-system --field-selector source={PROGRAM_NAME}

A subject announces its highest-ranked reason (the lowest number) and names the others after `also:`.
Holds are given as declared / failed / lost / starting trouble; *grace* is `--startup-grace-seconds`.

An [overlay](../catalogue/README.md#an-overlay) switches each reason on or off and sets its parameters, which are given
with their defaults: `window-seconds` is the time for which the trouble must be seen, `no-traffic-window-seconds` the same
while nothing shows new requests, `progress-window-seconds` the longest time without progress of an engine that works,
`min-…` and `max-…` the least and the highest number that is well or counts, shares from 0 to 1, `min-ratio` requests that
wait for each that runs, `restarts` and `failures` how many are trouble. A parameter that ends in `-flag` names a flag.
`families` are names of metrics: the first of a list that is on the page counts; of a histogram its count is read; requests
to `ignored-handlers` ask nothing of the model.
"""
SUBJECTS = {
    Layer.CLUSTER: "the control plane of the stack",
    Layer.MODELHARNESS: "the Gateway of one workload namespace and its filters",
    Layer.MODELDEPLOYMENT: "one InferenceSet",
}


def render_reasons(folder: Path) -> str:
    """
    Return the page for the catalogue in *folder*. Raise CatalogueError if it cannot be read.
    """
    entries = read_entries(folder)
    parts = [INTRODUCTION]
    for layer in Layer:
        of_layer = [entry for entry in entries if entry.layer is layer]
        parts.append(f"## Layer {layer}: {SUBJECTS[layer]}\n")
        parts += [_section(entry, entries) for entry in of_layer]
    return "\n".join(parts)


def _section(entry: ReasonEntry, entries: Iterable[ReasonEntry]) -> str:
    lines = [f"### {entry.reason}", "", _text(entry.meaning), "", *_facts(entry)]
    lines += _parameters(entry, entries)
    if entry.example is not UNSET:
        lines += ["", "Example:", "", f"    {entry.type} {entry.reason} {entry.example}"]
    if entry.runbook is not UNSET:
        lines += ["", "What to do:", "", *_numbered(entry.runbook)]
    rows = [*_suppressed_by_it(entry), *_suppresses_it(entry, entries)]
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
    held = build_holds(entry.hold)
    holds = (format_duration(h) for h in (held.declared, held.failed, held.lost, held.starting))
    yield f"- Holds: {' / '.join(holds)}{'' if entry.grace else '; no grace for new objects'}"


def _parameters(entry: ReasonEntry, entries: Iterable[ReasonEntry]) -> Iterator[str]:
    """
    Yield the parameters; lists of objects, such as components, are in the catalogue only.
    """
    given = {} if entry.parameters is UNSET else entry.parameters
    plain = {name: value for name, value in given.items() if _is_plain(value)}
    if plain:
        shown = ", ".join(f"`{name}: {_value(value)}`" for name, value in plain.items())
        yield f"- Parameters: {shown}"
    for name, value in given.items():
        if isinstance(value, Mapping) and all(map(_is_plain, value.values())):
            yield f"- Parameters `{name}`: {_mapping(entry, name, value, entries)}"


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


def _numbered(steps: Sequence[str]) -> Iterator[str]:
    yield from (f"{number}. {step}" for number, step in enumerate(steps, start=1))


def _suppressed_by_it(entry: ReasonEntry) -> Iterator[str]:
    for row in entry.suppresses:
        target = "every reason whose probe needs the missing CRD"
        if row.reason is not UNSET:
            target = _link(row.reason)
        yield f"- Suppresses {target} (scope: {row.scope}). {row.why}"


def _suppresses_it(entry: ReasonEntry, entries: Iterable[ReasonEntry]) -> Iterator[str]:
    for other in entries:
        if any(row.reason == entry.reason for row in other.suppresses):
            yield f"- Suppressed by {_link(other.reason)}."


def _link(reason: str) -> str:
    return f"[{reason}](#{reason.lower()})"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render_reasons(default_folder()), "utf-8")
