"""
The tables of the catalogue's README; ``python -m reporter.catalogue.readme`` renews them.

They are made from the files alone, so that they are the same whatever probes there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import UNSET

from reporter.catalogue.building import holds
from reporter.catalogue.durations import text
from reporter.catalogue.expectations import Expected, expected
from reporter.catalogue.format import Hold, OverlayFile, Override, ReasonEntry, Suppresses
from reporter.catalogue.loader import default_folder, shipped
from reporter.catalogue.problems import CatalogueError, Problem
from reporter.catalogue.reading import read
from reporter.model.words import Layer


def renewed(page: str, folder: Path) -> str:
    """
    The page with every table between its two marks made anew.
    """
    for name, table in _tables(folder).items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n{table}\n{end}{after}"
    return page


def _tables(folder: Path) -> Mapping[str, str]:
    entries = _entries(folder)
    fields = {
        f"fields of {type_.__name__}": _fields(type_)
        for type_ in (ReasonEntry, Hold, Suppresses, OverlayFile, Override)
    }
    layers = {
        f"layer {layer}": _reasons(e for e in entries if e.layer is layer) for layer in Layer
    }
    return {**fields, **layers, "suppressions": _suppressions(entries)}


def _entries(folder: Path) -> Sequence[ReasonEntry]:
    problems: list[Problem] = []
    entries = [read(source.node, ReasonEntry, problems) for source in shipped(folder, problems)]
    if problems:
        raise CatalogueError(problems)
    found = [entry for entry in entries if entry is not None]
    return sorted(found, key=lambda e: (e.layer.order, e.type == "Normal", _rank(e), e.reason))


def _rank(entry: ReasonEntry) -> float:
    return float("inf") if entry.rank is UNSET else entry.rank


def _reasons(entries: Iterable[ReasonEntry]) -> str:
    head = ("reason", "rank", "owner", "probe", "holds¹", "message")
    return _table(head, (_row(entry) for entry in entries))


def _row(entry: ReasonEntry) -> Sequence[str]:
    held = holds(entry.hold)
    spans = (text(h) for h in (held.declared, held.failed, held.lost, held.starting))
    orthogonal = "orthogonal" if entry.orthogonal else ""
    judged = entry.probe is not UNSET
    return (
        f"`{entry.reason}`",
        orthogonal if entry.rank is UNSET else str(entry.rank),
        str(entry.owner) if judged else "",
        f"`{entry.probe}`" if judged else "",
        " / ".join(spans) + ("" if entry.grace else ", no grace") if judged else "",
        f"`{entry.message}`",
    )


def _suppressions(entries: Iterable[ReasonEntry]) -> str:
    rows = (
        (
            f"`{entry.reason}`",
            "every reason whose probe demands that CRD" if row.crd_of else f"`{row.reason}`",
            str(row.scope),
            row.why,
        )
        for entry in entries
        for row in entry.suppresses
    )
    return _table(("while out", "silent", "scope", "why"), rows)


def _fields(type_: type[msgspec.Struct]) -> str:
    rows = []
    for field in msgspec.structs.fields(type_):
        wanted = expected(field.type)
        about = wanted.about.removeprefix(": ")
        needed = "yes" if field.required else ""
        rows.append((f"`{field.encode_name}`", _saying(wanted), needed, about))
    return _table(("key", "is", "needed", "what it means"), rows)


def _saying(wanted: Expected) -> str:
    """
    A part with a table of its own is named, not unfolded.
    """
    return "a mapping, see below" if wanted.struct is not None else wanted.saying


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    readme = default_folder() / "README.md"
    readme.write_text(renewed(readme.read_text("utf-8"), default_folder()), "utf-8")
