"""Read the file of silences. One that cannot be read silences nothing, and hides no other."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, field

from reporter.catalogue.format_of_kinds import CatalogueStruct, doc
from reporter.catalogue.problems import Problem
from reporter.catalogue.yaml_nodes import (
    Fields,
    Scalar,
    YamlNode,
    compose,
    compose_text,
    value_problems,
)
from reporter.catalogue.yaml_reader import read
from reporter.model.silences import SilenceFile, SilenceText


SILENCE_FILE = "silence-file"
"""The flag that names such a file."""


class SilenceEntry(CatalogueStruct, frozen=True, kw_only=True):
    """One silence: which reasons of which subjects, until when and why."""

    namespace: Annotated[
        str, Meta(description="Workload namespace. Absent: the cluster.", min_length=1)
    ] = ""
    inferenceset: Annotated[
        str,
        Meta(description="One InferenceSet of it. Absent: the namespace and all.", min_length=1),
    ] = ""
    reasons: Annotated[
        list[str], Meta(description="The silenced reasons, or `all` alone.", min_length=1)
    ]
    until: Annotated[Any, doc("When it ends, such as 2026-12-01T00:00:00Z.")]
    why: Annotated[str, doc("Why they are silenced.")] = ""
    by: Annotated[str, doc("Who silenced them.")] = ""


class SilenceFileFormat(CatalogueStruct, frozen=True, kw_only=True):
    """The file of silences, whose only key lists them."""

    silences: Annotated[list[Any], doc("In any order.")] = field(default_factory=list)


def read_silence_file(path: Path) -> SilenceFile:
    """Return the silences of a file. A file that does not exist has none."""
    if not _exists(path):
        return SilenceFile(str(path), exists=False)
    problems: list[Problem] = []
    return _silence_file(compose(path, problems), path, problems)


def parse_silence_file(text: str, path: Path) -> SilenceFile:
    """Return the silences of a text. *path*: the file that they are said to be in."""
    problems: list[Problem] = []
    return _silence_file(compose_text(text, str(path), problems), path, problems)


def _silence_file(root: YamlNode | None, path: Path, problems: list[Problem]) -> SilenceFile:
    found = None if root is None else read(root, SilenceFileFormat, problems)
    items = root.items_of("silences") if isinstance(root, Fields) else ()
    of_entries = {problem for node in items for problem in value_problems(node)}
    of_file = [each for each in problems if each not in of_entries]
    if found is None or of_file:
        # A key that is there twice may have been meant to end a silence.
        return SilenceFile(str(path), problem=_texts(of_file))
    return SilenceFile(str(path), tuple(_silence(node, path) for node in items))


def _exists(path: Path) -> bool:
    """
    Return False only if it is certain: what may not be looked at cannot be read either, which is shown.
    """
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def _silence(node: YamlNode, path: Path) -> SilenceText:
    # A value that could not be read is no wrong type as well.
    problems = [*value_problems(node)]
    entry = None if problems else read(node, SilenceEntry, problems)
    origin = f"{path.name}:{node.place.line}"
    if entry is None:
        return SilenceText(
            origin, _word(node, "namespace"), _word(node, "inferenceset"), problem=_texts(problems)
        )
    return SilenceText(
        origin,
        entry.namespace,
        entry.inferenceset,
        tuple(entry.reasons),
        # YAML has times of its own; both kinds of them have the form of RFC 3339.
        entry.until.isoformat() if isinstance(entry.until, date) else str(entry.until or ""),
        entry.why,
        entry.by,
    )


def _word(node: YamlNode, key: str) -> str:
    found = node.values.get(key) if isinstance(node, Fields) else None
    return found.value if isinstance(found, Scalar) and isinstance(found.value, str) else ""


def _texts(problems: list[Problem]) -> str:
    return "; ".join(f"line {each.place.line}: {each.text}" for each in sorted(set(problems)))
