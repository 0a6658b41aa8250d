"""Read the JSON and YAML documents of a dump: one file, a folder of them, or standard input."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import Struct

from reporter.kube import stack_dump
from reporter.kube.decoding import decode_json
from reporter.model.yaml_nesting import TooDeepError, check_nesting
from reporter.settings.errors import ConfigurationError


SUFFIXES = frozenset({".json", ".yaml", ".yml"})
STANDARD_INPUT = "-"

LOG_START, LOG_END = "==== START logs for container", "==== END logs for container"
"""
The lines around the log of a container in the output of ``kubectl cluster-info dump``
(staging/src/k8s.io/kubectl/pkg/cmd/clusterinfo/clusterinfo_dump.go).
"""

MAX_LEVELS = 5000
"""The nesting of a YAML document; an API server accepts objects with more than people write."""

_JSON = msgspec.json.Decoder(Any)
JSON_CUT_OFF = "Input data was truncated"
"""The error of msgspec for a text that ends in the middle of a value."""


class DumpDocument(Struct, frozen=True):
    """A parsed document of a dump, such as an object or a List. *source*: the file, for messages."""

    source: str
    content: Any


class UnreadableFile(Struct, frozen=True):
    """
    A file, or a document of it, that was left out. *source*: its path, for messages. *why*: the error.

    *is_cut_off*: it ends before its end, as that of a program that was interrupted.
    """

    source: str
    why: str
    is_cut_off: bool = False


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads times as text, as JSON does."""

    yaml_implicit_resolvers = {  # noqa: RUF012  the name and type are PyYAML's
        first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def read_documents(path: str) -> Iterator[DumpDocument | UnreadableFile]:
    """
    Yield the documents of a file, of all files of a folder, or of standard input for ``-``.

    Raises ConfigurationError if there is no such file or folder, or nothing in it to read.
    """
    if path == STANDARD_INPUT:
        yield from _read_text("standard input", sys.stdin.buffer.read())
        return
    files = find_files(Path(path))
    for each in files:
        try:
            text = each.read_bytes()
        except OSError as err:
            yield UnreadableFile(str(each), err.strerror or type(err).__name__)
        else:
            yield from _read_text(str(each), text)


def find_files(path: Path) -> Sequence[Path]:
    """
    Return the file itself, or the JSON and YAML files below a folder, sorted by name.

    Raises ConfigurationError if it does not exist, or if no such file is in the folder.
    """
    if path.is_dir():
        found = sorted(
            each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file()
        )
        if not found:
            raise ConfigurationError(
                f"{path}: no .json, .yaml or .yml file is in this folder; name the folder that"
                " kubectl cluster-info dump --output-directory or must-gather wrote"
            )
        return found
    if not path.exists():
        raise ConfigurationError(f"{path}: no such file or folder")
    return [path]


def _read_text(source: str, raw: bytes) -> Iterator[DumpDocument | UnreadableFile]:
    """
    Yield the documents of one text. Every JSON text is read by the JSON parser, which is far faster.
    """
    if stack_dump.is_stack_dump(raw):
        yield from _read_stack_dump(source, raw)
        return
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        yield UnreadableFile(source, "it is not UTF-8")
        return
    if not text.strip():
        yield UnreadableFile(source, "it is empty", is_cut_off=True)
    elif text.lstrip().startswith("{"):
        yield from _read_json(source, text)
    else:
        yield from _read_yaml(source, text)


def _read_stack_dump(source: str, raw: bytes) -> Iterator[DumpDocument | UnreadableFile]:
    """Yield the documents that the command dump wrote; none of a text that was cut off."""
    cut = stack_dump.find_cut(raw)
    if cut is not None:
        yield UnreadableFile(source, _ends_at(cut, "before the end of the dump"), is_cut_off=True)
        return
    for number, content in stack_dump.read_lines(raw):
        if isinstance(content, msgspec.DecodeError):
            yield UnreadableFile(source, f"line {number} is no document: {content}")
        else:
            yield DumpDocument(source, content)


def _ends_at(line: int, where: str) -> str:
    return f"it ends at line {line} {where}"


def _read_yaml(source: str, text: str) -> Iterator[DumpDocument | UnreadableFile]:
    last = text.rstrip("\n").count("\n") + 1
    try:
        _check_nesting(text)
        for content in yaml.load_all(text, Loader=_Loader):
            if _has_aliases(content):
                yield UnreadableFile(source, "it has YAML aliases, which no dump of objects has")
            elif isinstance(content, dict) and "items" in content and "kind" not in content:
                # kubectl writes the kind of a list after its items.
                why = _ends_at(last, "without the kind of its list")
                yield UnreadableFile(source, why, is_cut_off=True)
            else:
                yield DumpDocument(source, content)
    except TooDeepError as err:
        yield UnreadableFile(source, f"it is not YAML: {_first_line(err)}")
    except yaml.MarkedYAMLError as err:
        line = err.problem_mark.line + 1 if err.problem_mark is not None else 0
        if line >= last:
            yield UnreadableFile(
                source, _ends_at(last, "in the middle of a document"), is_cut_off=True
            )
        else:
            yield UnreadableFile(source, f"line {line} is not YAML: {err.problem}")
    except (yaml.YAMLError, RecursionError, ValueError) as err:
        yield UnreadableFile(source, f"it is not YAML: {_first_line(err)}")


def _check_nesting(text: str) -> None:
    """
    Raise TooDeepError for YAML that is nested too deep.

    Any other error is left to the parser, which first yields the documents before it.
    """
    try:
        check_nesting(text, MAX_LEVELS)
    except TooDeepError:
        raise
    except yaml.YAMLError:
        return


def _read_json(source: str, text: str) -> Iterator[DumpDocument | UnreadableFile]:
    """
    Yield one document, or all of those that ``kubectl cluster-info dump`` prints one after another.
    """
    whole = _decode_json(source, text)
    parts = list(_split_documents(text)) if isinstance(whole, UnreadableFile) else []
    if len(parts) > 1:
        yield from (_decode_json(source, part) for part in parts)
    else:
        yield whole


def _decode_json(source: str, text: str) -> DumpDocument | UnreadableFile:
    raw = text.encode()
    try:
        return DumpDocument(source, decode_json(_JSON, raw))
    except msgspec.DecodeError as err:
        if str(err) == JSON_CUT_OFF:
            why = _ends_at(text.rstrip("\n").count("\n") + 1, "in the middle of a document")
            return UnreadableFile(source, why, is_cut_off=True)
        return UnreadableFile(source, f"it is not JSON: {err}")


def _split_documents(text: str) -> Iterator[str]:
    """
    Split indented documents at the lines that begin and end an object; logs between them are left out.
    """
    begun: list[str] = []
    in_log = False
    for line in text.splitlines():
        if line.startswith((LOG_START, LOG_END)):
            in_log = line.startswith(LOG_START)
        elif not in_log and (begun or line == "{"):
            begun.append(line)
            if line == "}":
                yield "\n".join(begun)
                begun = []
    if begun:
        yield "\n".join(begun)


def _has_aliases(content: Any) -> bool:
    """
    Return whether a part of the document stands in it twice; a few of those can make it endless.
    """
    seen: set[int] = set()
    pending = [content]
    while pending:
        each = pending.pop()
        if isinstance(each, dict | list):
            if id(each) in seen:
                return True
            seen.add(id(each))
            pending.extend(each.values() if isinstance(each, dict) else each)
    return False


def _first_line(err: Exception) -> str:
    return (str(err).splitlines() or [type(err).__name__])[0]
