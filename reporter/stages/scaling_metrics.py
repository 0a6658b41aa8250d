"""
The list of metrics in an annotation, as keda-kaito-scaler reads it.

YAML or JSON, keys in any case, unknown keys ignored (Go's encoding/json). Only what is surely wrong is
told: what Go and Python read differently, such as merged keys, is let pass.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

import yaml

from reporter.stages.foreign import clean, shorten


READ = 16_384
"""
Characters of an annotation that are read; nobody scales by that many metrics.
"""

LONGEST = 60
"""
Bytes of a name or value in a message.
"""

TYPES = ("gauge", "histogram")
WINDOW = "metriccachewindow"
NULL = "tag:yaml.org,2002:null"
MERGE = "tag:yaml.org,2002:merge"
NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?")
OTHER_NUMBER = re.compile(r"[-+]?0[xob][0-9a-fA-F_]+")

Wrong: TypeAlias = tuple[str, str]
"""
A field with its value, and what it must be.
"""

Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


@lru_cache(maxsize=4096)
def metrics(text: str) -> tuple[str, ...]:
    """
    Why this list cannot be scaled by; empty if it can.
    """
    if len(text) > READ:
        return ()
    try:
        root = next(yaml.compose_all(text, Loader=Loader), None)
        return tuple(_entries(root))
    except (yaml.YAMLError, RecursionError) as err:
        return (_unparsed(err),)


def _unparsed(err: Exception) -> str:
    mark = err.problem_mark if isinstance(err, yaml.MarkedYAMLError) else None
    return "is no YAML" + (f", see its line {mark.line + 1}" if mark is not None else "")


def _entries(root: yaml.Node | None) -> Iterator[str]:
    if root is None or root.tag == NULL:
        yield "lists no metric"
    elif not isinstance(root, yaml.SequenceNode):
        yield "must be a list of metrics"
    elif not root.value:
        yield "lists no metric"
    else:
        variables: dict[str, str] = {}
        for number, entry in enumerate(root.value, start=1):
            yield from _entry(entry, number, variables)


def _entry(entry: yaml.Node, number: int, variables: dict[str, str]) -> Iterator[str]:
    """
    *variables*: the names so far, by what KEDA's formula calls them.
    """
    if not isinstance(entry, yaml.MappingNode):
        yield f"entry {number} must have a name, a type and thresholds"
        return
    if any(key.tag == MERGE for key, _ in entry.value):
        return
    fields = _fields(entry)
    name = _text(fields.get("name"))
    if not name:
        yield f"entry {number} has no name"
        return
    called = shorten(clean(name), LONGEST)
    other = variables.setdefault(_variable(name), called)
    if other is not called:
        yield f"{called} and {other} are one and the same to KEDA's formula"
    for field, must in (*_kind(fields), *_thresholds(fields), *_window(fields)):
        yield f"{field} of {called} {must}"


def _fields(entry: yaml.MappingNode) -> Mapping[str, yaml.Node]:
    return {
        str(key.value).lower(): value
        for key, value in entry.value
        if isinstance(key, yaml.ScalarNode) and value.tag != NULL
    }


def _variable(name: str) -> str:
    """
    The name as expr-lang takes it.
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", f"_{name}" if name[0] in "0123456789" else name)


def _kind(fields: Mapping[str, yaml.Node]) -> Iterable[Wrong]:
    kind, source = _text(fields.get("type")), _text(fields.get("source"))
    if kind not in TYPES:
        yield f"type{_shown(kind)}", "must be gauge or histogram"
    if source not in {"", "modelpod"}:
        yield f"source{_shown(source)}", "must be modelpod"


def _thresholds(fields: Mapping[str, yaml.Node]) -> Iterable[Wrong]:
    up, down = _number(fields.get("upthreshold")), _number(fields.get("downthreshold"))
    for name, value in (("upthreshold", up), ("downthreshold", down)):
        if name not in fields:
            yield name, "is missing"
        elif value is None:
            yield _field(fields, name), "must be a finite number"
        elif value <= 0:
            yield _field(fields, name), "must be greater than 0"
    if up is not None and down is not None and down > up > 0:
        most = _text(fields["upthreshold"])
        yield (
            _field(fields, "downthreshold"),
            f"must not be greater than upthreshold{_shown(most)}",
        )


def _window(fields: Mapping[str, yaml.Node]) -> Iterable[Wrong]:
    if WINDOW not in fields:
        return
    span = _number(fields[WINDOW])
    if _text(fields.get("type")) == "gauge":
        yield WINDOW, "is for histograms only"
    elif span is None or span <= 0 or span != int(span):
        yield _field(fields, WINDOW), "must be a whole number of seconds greater than 0"


def _field(fields: Mapping[str, yaml.Node], name: str) -> str:
    return f"{name}{_shown(_text(fields[name]))}"


def _text(node: yaml.Node | None) -> str:
    return node.value if isinstance(node, yaml.ScalarNode) else ""


def _shown(value: str) -> str:
    return f"={shorten(clean(value), LONGEST)}" if value else ""


def _number(node: yaml.Node | None) -> float | None:
    """
    None if it is no finite number; one in quotes is none.
    """
    if not isinstance(node, yaml.ScalarNode) or node.style in {"'", '"', "|", ">"}:
        return None
    text = node.value.replace("_", "")
    try:
        value = float(int(text, 0)) if OTHER_NUMBER.fullmatch(text) else None
    except ValueError:
        return None
    if value is None and NUMBER.fullmatch(node.value):
        value = float(text)
    return value if value is not None and math.isfinite(value) else None
