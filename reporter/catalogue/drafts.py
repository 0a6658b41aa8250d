"""
Read entries and keep their lines with them, for the checks.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from reporter.catalogue.format import ReasonEntry
from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml.nodes import Fields, Items, Node, Scalar
from reporter.catalogue.yaml.reader import read
from reporter.model.entries import ProbeSpec


@dataclass(frozen=True, slots=True)
class KnownNames:
    """
    The names that entries may use. *flags*: those of the process.
    """

    specs: Mapping[str, ProbeSpec]
    flags: frozenset[str]


@dataclass(frozen=True, slots=True)
class EntrySource:
    """
    One entry of a file, as an overlay left it.
    """

    node: Fields

    @property
    def name(self) -> str:
        named = self.node.values.get("reason")
        return str(named.value) if isinstance(named, Scalar) else ""


def entry_sources(root: Node, key: str) -> Iterator[EntrySource]:
    """
    Yield the entries that a file lists under *key*.
    """
    listed = root.values.get(key) if isinstance(root, Fields) else None
    for node in listed.items if isinstance(listed, Items) else ():
        if isinstance(node, Fields):
            yield EntrySource(node)


@dataclass(frozen=True, slots=True)
class Draft:
    """
    An entry that was read. *spec* and *parameters* are None for reasons without a probe.
    """

    entry: ReasonEntry
    node: Fields
    spec: ProbeSpec | None = None
    parameters: Any = None

    @property
    def reason(self) -> str:
        return self.entry.reason

    @property
    def enabled(self) -> bool:
        return self.entry.enabled

    def problem(self, text: str, *path: str) -> Problem:
        """
        Return a problem with the key at *path*, placed at that key.
        """
        return Problem(self.where(*path), f"{self.reason}: {text}")

    def where(self, *path: str) -> Place:
        node: object = self.node
        place = self.node.where("reason")
        for key in path:
            if not isinstance(node, Fields) or key not in node.values:
                break
            place, node = node.where(key), node.values[key]
        return place


@dataclass(frozen=True, slots=True)
class Drafts:
    """
    The entries that could be read.

    *names* are those of all entries, so that a row which names an unreadable one is not reported.
    """

    all: tuple[Draft, ...]
    names: frozenset[str] = field(default=frozenset())


def read_drafts(
    sources: Iterable[EntrySource], known: KnownNames, problems: list[Problem]
) -> Drafts:
    found, names = [], set()
    for source in sources:
        names.add(source.name)
        draft = _read_draft(source, known, problems)
        if draft is not None:
            found.append(draft)
    return Drafts(tuple(found), frozenset(names))


def _read_draft(source: EntrySource, known: KnownNames, problems: list[Problem]) -> Draft | None:
    entry = read(source.node, ReasonEntry, problems)
    if entry is None:
        return None
    draft = Draft(entry, source.node)
    if entry.probe is UNSET:
        return draft
    spec = known.specs.get(entry.probe)
    if spec is None:
        text = f"unknown probe `{entry.probe}`: {suggest_name(entry.probe, known.specs)}"
        problems.append(draft.problem(text, "probe"))
        return None
    given = source.node.values.get("parameters") or Fields(source.node.where("probe"))
    if not isinstance(given, Fields):
        return None
    found: list[Problem] = []
    parameters = read(given, spec.parameters_type, found)
    problems += [Problem(p.place, f"{entry.reason}: parameters: {p.text}") for p in found]
    return None if found else Draft(entry, source.node, spec, parameters)
