"""
Render the tables of the catalogue's README; ``python -m docs.generators.catalogue_tables`` writes.

They are rendered from the files alone, and so do not depend on which probes exist.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import UNSET, inspect

from docs.generators.markdown import render_table
from reporter.catalogue.format import (
    Hold,
    OnPathOf,
    OverlayFile,
    Override,
    ReasonEntry,
    Suppresses,
    format_duration,
)
from reporter.catalogue.format_of_kinds import KindEntry, SubjectEntry
from reporter.catalogue.loader import default_folder
from reporter.catalogue.parsed_entries import build_holds
from reporter.catalogue.reason_reference import read_entries
from reporter.catalogue.yaml_reader import describe_type, field_meaning
from reporter.model.enums import Layer


def renew_tables(page: str, folder: Path) -> str:
    """Return the page with every table between its two marks rendered anew."""
    for name, table in _render_tables(folder).items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n{table}{end}{after}"
    return page


def _render_tables(folder: Path) -> Mapping[str, str]:
    entries = read_entries(folder)
    fields = {
        f"fields of {type_.__name__}": _field_table(type_)
        for type_ in (
            *(ReasonEntry, Hold, Suppresses, OnPathOf),
            *(SubjectEntry, KindEntry, OverlayFile, Override),
        )
    }
    head = ("reason", "rank", "owner", "probe", "holds¹", "message")
    layers = {
        f"layer {layer}": render_table(head, (_reason_row(e) for e in entries if e.layer is layer))
        for layer in Layer
    }
    return {
        **fields,
        **layers,
        "suppressions": _suppression_table(entries),
        "paths": _path_table(entries),
    }


def _reason_row(entry: ReasonEntry) -> Sequence[str]:
    held = build_holds(entry.hold, with_grace=entry.grace)
    holds = (format_duration(h) for h in (held.declared, held.failed, held.lost, held.starting))
    orthogonal = "orthogonal" if entry.orthogonal else ""
    off = "" if entry.enabled else ", off by default"
    evaluated = entry.probe is not UNSET
    return (
        f"`{entry.reason}`",
        (orthogonal if entry.rank is UNSET else str(entry.rank)) + off,
        str(entry.owner) if evaluated else "",
        f"`{entry.probe}`" if evaluated else "",
        " / ".join(holds) + ("" if entry.grace else ", no grace") if evaluated else "",
        f"`{entry.message}`",
    )


def _suppression_table(entries: Iterable[ReasonEntry]) -> str:
    rows = (
        (
            f"`{entry.reason}`",
            "every reason whose probe requires that CRD" if row.crd_of else f"`{row.reason}`",
            str(row.scope),
            row.why,
        )
        for entry in entries
        for row in entry.suppresses
    )
    return render_table(("while out", "suppressed", "scope", "why"), rows)


def _path_table(entries: Iterable[ReasonEntry]) -> str:
    rows = (
        (f"`{entry.reason}`", row.subject, _limits(row), row.why)
        for entry in entries
        for row in entry.on_path_of
    )
    return render_table(("while out", "no request of", "but not", "why"), rows)


def _limits(row: OnPathOf) -> str:
    limits = [f"`{each}`" for each in row.except_]
    if row.only:
        limits.append(f"what is not {' or '.join(f'`{each}`' for each in row.only)}")
    if row.where_called:
        limits.append("where no EnvoyFilter calls it")
    return ", ".join(limits)


def _field_table(type_: type[msgspec.Struct]) -> str:
    info = inspect.type_info(type_)
    rows = [
        (
            f"`{field.encode_name}`",
            _type_cell(field.type),
            "yes" if field.required else "",
            field_meaning(field.type),
        )
        for field in (info.fields if isinstance(info, inspect.StructType) else ())
    ]
    return render_table(("key", "is", "needed", "what it means"), rows)


def _type_cell(type_: inspect.Type) -> str:
    """Describe a type; refer to its own table instead of listing the keys of a mapping."""
    inner = type_
    while isinstance(inner, inspect.Metadata):
        inner = inner.type
    return (
        "a mapping, see below" if isinstance(inner, inspect.StructType) else describe_type(type_)
    )


if __name__ == "__main__":
    readme = default_folder() / "README.md"
    readme.write_text(renew_tables(readme.read_text("utf-8"), default_folder()), "utf-8")
