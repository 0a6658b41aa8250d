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

from reporter.stages.text.sanitize import sanitize, truncate_bytes


MAX_PARSED_CHARS = 16_384
"""
Characters of an annotation that are read; nobody scales by that many metrics.
"""

MAX_VALUE_BYTES = 60
"""
Bytes of a name or value in a message.
"""

METRIC_TYPES = ("gauge", "histogram")
WINDOW_FIELD = "metriccachewindow"
NULL_TAG = "tag:yaml.org,2002:null"
MERGE_TAG = "tag:yaml.org,2002:merge"
NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?")
PREFIXED_INTEGER = re.compile(r"[-+]?0[xob][0-9a-fA-F_]+")

FieldProblem: TypeAlias = tuple[str, str]
"""
A field with its value, and what it must be.
"""

Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


@lru_cache(maxsize=4096)
def find_metric_problems(text: str) -> tuple[str, ...]:
    """
    Why this list cannot be scaled by; empty if it can.
    """
    if len(text) > MAX_PARSED_CHARS:
        return ()
    try:
        root = next(yaml.compose_all(text, Loader=Loader), None)
        return tuple(_list_problems(root))
    except (yaml.YAMLError, RecursionError) as err:
        return (_describe_yaml_error(err),)


def _describe_yaml_error(err: Exception) -> str:
    mark = err.problem_mark if isinstance(err, yaml.MarkedYAMLError) else None
    return "is no YAML" + (f", see its line {mark.line + 1}" if mark is not None else "")


def _list_problems(root: yaml.Node | None) -> Iterator[str]:
    if root is None or root.tag == NULL_TAG:
        yield "lists no metric"
    elif not isinstance(root, yaml.SequenceNode):
        yield "must be a list of metrics"
    elif not root.value:
        yield "lists no metric"
    else:
        variables: dict[str, str] = {}
        for number, entry in enumerate(root.value, start=1):
            yield from _entry_problems(entry, number, variables)


def _entry_problems(entry: yaml.Node, number: int, variables: dict[str, str]) -> Iterator[str]:
    """
    *variables*: the names so far, by what KEDA's formula calls them.
    """
    if not isinstance(entry, yaml.MappingNode):
        yield f"entry {number} must have a name, a type and thresholds"
        return
    if any(key.tag == MERGE_TAG for key, _ in entry.value):
        return
    fields = _fields(entry)
    name = _scalar_text(fields.get("name"))
    if not name:
        yield f"entry {number} has no name"
        return
    called = truncate_bytes(sanitize(name), MAX_VALUE_BYTES)
    other = variables.setdefault(_formula_variable(name), called)
    if other is not called:
        yield f"{called} and {other} are one and the same to KEDA's formula"
    for field, must in (
        *_type_problems(fields),
        *_threshold_problems(fields),
        *_window_problems(fields),
    ):
        yield f"{field} of {called} {must}"


def _fields(entry: yaml.MappingNode) -> Mapping[str, yaml.Node]:
    return {
        str(key.value).lower(): value
        for key, value in entry.value
        if isinstance(key, yaml.ScalarNode) and value.tag != NULL_TAG
    }


def _formula_variable(name: str) -> str:
    """
    The name as expr-lang takes it.
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", f"_{name}" if name[0] in "0123456789" else name)


def _type_problems(fields: Mapping[str, yaml.Node]) -> Iterable[FieldProblem]:
    kind, source = _scalar_text(fields.get("type")), _scalar_text(fields.get("source"))
    if kind not in METRIC_TYPES:
        yield f"type{_format_value(kind)}", "must be gauge or histogram"
    if source not in {"", "modelpod"}:
        yield f"source{_format_value(source)}", "must be modelpod"


def _threshold_problems(fields: Mapping[str, yaml.Node]) -> Iterable[FieldProblem]:
    up, down = _parse_number(fields.get("upthreshold")), _parse_number(fields.get("downthreshold"))
    for name, value in (("upthreshold", up), ("downthreshold", down)):
        if name not in fields:
            yield name, "is missing"
        elif value is None:
            yield _format_field(fields, name), "must be a finite number"
        elif value <= 0:
            yield _format_field(fields, name), "must be greater than 0"
    if up is not None and down is not None and down > up > 0:
        most = _scalar_text(fields["upthreshold"])
        yield (
            _format_field(fields, "downthreshold"),
            f"must not be greater than upthreshold{_format_value(most)}",
        )


def _window_problems(fields: Mapping[str, yaml.Node]) -> Iterable[FieldProblem]:
    if WINDOW_FIELD not in fields:
        return
    span = _parse_number(fields[WINDOW_FIELD])
    if _scalar_text(fields.get("type")) == "gauge":
        yield WINDOW_FIELD, "is for histograms only"
    elif span is None or span <= 0 or span != int(span):
        yield (
            _format_field(fields, WINDOW_FIELD),
            "must be a whole number of seconds greater than 0",
        )


def _format_field(fields: Mapping[str, yaml.Node], name: str) -> str:
    return f"{name}{_format_value(_scalar_text(fields[name]))}"


def _scalar_text(node: yaml.Node | None) -> str:
    return node.value if isinstance(node, yaml.ScalarNode) else ""


def _format_value(value: str) -> str:
    return f"={truncate_bytes(sanitize(value), MAX_VALUE_BYTES)}" if value else ""


def _parse_number(node: yaml.Node | None) -> float | None:
    """
    None if it is no finite number; one in quotes is none.
    """
    if not isinstance(node, yaml.ScalarNode) or node.style in {"'", '"', "|", ">"}:
        return None
    text = node.value.replace("_", "")
    try:
        value = float(int(text, 0)) if PREFIXED_INTEGER.fullmatch(text) else None
    except ValueError:
        return None
    if value is None and NUMBER.fullmatch(node.value):
        value = float(text)
    return value if value is not None and math.isfinite(value) else None
