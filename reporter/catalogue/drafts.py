"""
Entries as they were read, with their lines: what the checks look at.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from reporter.catalogue.format import ReasonEntry
from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml.nodes import Fields, Scalar
from reporter.catalogue.yaml.reader import read
from reporter.model.entries import ProbeSpec


@dataclass(frozen=True, slots=True)
class KnownNames:
    """
    What entries may name. *flags*: of the process.
    """

    specs: Mapping[str, ProbeSpec]
    flags: frozenset[str]


@dataclass(frozen=True, slots=True)
class EntrySource:
    """
    One entry as it stands in its file, and what an overlay made of it.
    """

    node: Fields
    enabled: bool = True

    @property
    def name(self) -> str:
        named = self.node.values.get("reason")
        return str(named.value) if isinstance(named, Scalar) else ""


@dataclass(frozen=True, slots=True)
class Draft:
    """
    *spec* and *parameters* are None for reasons without a probe.
    """

    entry: ReasonEntry
    node: Fields
    enabled: bool = True
    spec: ProbeSpec | None = None
    parameters: Any = None

    @property
    def reason(self) -> str:
        return self.entry.reason

    def problem(self, text: str, *path: str) -> Problem:
        """
        One of the key at *path*, told where that key stands.
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
    *all*: those that could be read. *names*: of the others too, so that who names them is right.
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
    draft = Draft(entry, source.node, source.enabled)
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
    told: list[Problem] = []
    parameters = read(given, spec.parameters_type, told)
    problems += [Problem(p.place, f"{entry.reason}: parameters: {p.text}") for p in told]
    return None if told else Draft(entry, source.node, source.enabled, spec, parameters)
