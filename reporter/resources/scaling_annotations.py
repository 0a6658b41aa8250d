"""
Problems of an InferenceSet's scaling annotations for which keda-kaito-scaler ignores them.

The scaler mostly ignores an invalid annotation without an Event, so that a typo looks like a model
that never scales. Source: keda-kaito-scaler, pkg/scaledobject and pkg/controllers/autoprovision.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from enum import StrEnum, unique
from functools import lru_cache
from typing import TypeAlias

import yaml
from msgspec import Struct

from reporter.model.sanitize import sanitize, truncate_bytes
from reporter.model.yaml_nesting import check_nesting


# --------------------------------------------------------------------
# Problems of the list of metrics in the scaling annotations, as keda-kaito-scaler reads it.
#
# The list is YAML or JSON. Keys match in any case and unknown keys are ignored (Go's encoding/json).
# Whatever Go and Python read differently, such as YAML merge keys, is accepted: only certain mistakes
# may be reported.


MAX_PARSED_CHARS = 16_384
"""
Limit of an annotation in characters, far above a real list of metrics; a longer one is not parsed.
"""

MAX_NAME_BYTES = 60
"""Limit of a quoted name or value in bytes."""

METRIC_TYPES = ("gauge", "histogram")
WINDOW_FIELD = "metriccachewindow"
DEFAULT_WINDOW, MAX_WINDOW = 300, 86_400
"""
The seconds that a histogram has without the field (keda-kaito-scaler, pkg/scaler), and the most that
are believed.
"""

NULL_TAG = "tag:yaml.org,2002:null"
MERGE_TAG = "tag:yaml.org,2002:merge"
NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?")
PREFIXED_INTEGER = re.compile(r"[-+]?0[xob][0-9a-fA-F_]+")

FieldProblem: TypeAlias = tuple[str, str]
"""A field with its value, and the rule that the value breaks."""

Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


@lru_cache(maxsize=4096)
def find_metric_problems(text: str) -> tuple[str, ...]:
    """
    Return the reasons why the scaler refuses *text*, the annotation with the list of metrics.

    Empty is no proof that it accepts it: only certain mistakes are found, and none in a text of more than
    MAX_PARSED_CHARS. Cached, because a pass over thousands of InferenceSets meets the same few texts.
    """
    if len(text) > MAX_PARSED_CHARS:
        return ()
    try:
        check_nesting(text)
        root = next(yaml.compose_all(text, Loader=Loader), None)
        return tuple(_list_problems(root))
    except (yaml.YAMLError, RecursionError) as err:
        mark = err.problem_mark if isinstance(err, yaml.MarkedYAMLError) else None
        where = f", see its line {mark.line + 1}" if mark is not None else ""
        return (f"is no YAML{where}",)


@lru_cache(maxsize=4096)
def longest_cache_window(text: str) -> timedelta:
    """
    Return the longest time over which the scaler averages a metric; zero if it averages none.
    """
    if len(text) > MAX_PARSED_CHARS or find_metric_problems(text):
        return timedelta(0)
    root = next(yaml.compose_all(text, Loader=Loader), None)
    entries = root.value if isinstance(root, yaml.SequenceNode) else ()
    fields = [_fields(each) for each in entries if isinstance(each, yaml.MappingNode)]
    averaged = (each for each in fields if _scalar_text(each.get("type")) == "histogram")
    windows = (_parse_number(each.get(WINDOW_FIELD)) for each in averaged)
    seconds = max((DEFAULT_WINDOW if each is None else each for each in windows), default=0)
    return timedelta(seconds=min(seconds, MAX_WINDOW))


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
    Check one entry and add its name to *variables*, the names so far by their formula variable.
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
    quoted_name = truncate_bytes(sanitize(name), MAX_NAME_BYTES)
    other = variables.setdefault(_formula_variable(name), quoted_name)
    if other is not quoted_name:
        yield f"{quoted_name} and {other} are one and the same to KEDA's formula"
    for field, rule in (
        *_type_problems(fields),
        *_threshold_problems(fields),
        *_window_problems(fields),
    ):
        yield f"{field} of {quoted_name} {rule}"


def _fields(entry: yaml.MappingNode) -> Mapping[str, yaml.Node]:
    return {
        str(key.value).lower(): value
        for key, value in entry.value
        if isinstance(key, yaml.ScalarNode) and value.tag != NULL_TAG
    }


def _formula_variable(name: str) -> str:
    """
    Return the variable that stands for a metric in KEDA's formula, an expr-lang expression.

    The scaler derives it from the name, and two metrics must not share one.
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", f"_{name}" if name[0] in "0123456789" else name)


def _type_problems(fields: Mapping[str, yaml.Node]) -> Iterable[FieldProblem]:
    type_, source = _scalar_text(fields.get("type")), _scalar_text(fields.get("source"))
    if type_ not in METRIC_TYPES:
        yield f"type{_format_value(type_)}", "must be gauge or histogram"
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
        upper = _format_value(_scalar_text(fields["upthreshold"]))
        yield (
            _format_field(fields, "downthreshold"),
            f"must not be greater than upthreshold{upper}",
        )


def _window_problems(fields: Mapping[str, yaml.Node]) -> Iterable[FieldProblem]:
    if WINDOW_FIELD not in fields:
        return
    seconds = _parse_number(fields[WINDOW_FIELD])
    if _scalar_text(fields.get("type")) == "gauge":
        yield WINDOW_FIELD, "is for histograms only"
    elif seconds is None or seconds <= 0 or seconds != int(seconds):
        yield (
            _format_field(fields, WINDOW_FIELD),
            "must be a whole number of seconds greater than 0",
        )


def _format_field(fields: Mapping[str, yaml.Node], name: str) -> str:
    return f"{name}{_format_value(_scalar_text(fields[name]))}"


def _scalar_text(node: yaml.Node | None) -> str:
    return node.value if isinstance(node, yaml.ScalarNode) else ""


def _format_value(value: str) -> str:
    return f"={truncate_bytes(sanitize(value), MAX_NAME_BYTES)}" if value else ""


def _parse_number(node: yaml.Node | None) -> float | None:
    """Parse a YAML number; None if it is not finite, or quoted and therefore a string to Go."""
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


ANNOTATION_PREFIX = "scaledobject.kaito.sh/"
DURATION_ANNOTATIONS = ("evaluationwindow", "scaleupcooldown", "scaledowncooldown")
MAX_SECONDS = 2**31 - 1
INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
MAX_VALUE_BYTES = 40
"""
Limit of a quoted value in bytes. The values are free text, typed by hand or rendered by a template.
"""


@unique
class AnnotationCode(StrEnum):
    """The group of annotations with a problem; a cause code of the scaling probe."""

    REPLICAS = "Replicas"
    METRICS = "Metrics"
    COOLDOWN = "Cooldown"


class AnnotationProblem(Struct, frozen=True):
    """One problem; *text* names the annotation and says what it must be."""

    code: AnnotationCode
    text: str


class ReplicaLimit(Struct, frozen=True):
    """
    The limit that ``spec.nodeCountLimit`` sets, which the scaler prefers to max-replicas.

    *node_count_limit*: 0 for no limit. *nodes_per_replica*: 0 while KAITO has not computed it.
    """

    node_count_limit: int = 0
    nodes_per_replica: int = 0

    @property
    def max_replicas(self) -> int | None:
        """
        The replicas that fit into the limit, at least 1; None without a limit.

        It is None also before KAITO has computed the nodes of a replica.
        """
        return (
            max(self.node_count_limit // self.nodes_per_replica, 1)
            if self.node_count_limit and self.nodes_per_replica
            else None
        )


def is_auto_provision_enabled(annotations: Mapping[str, str]) -> bool:
    """
    Return whether an InferenceSet's annotations ask the scaler to scale it; only the text true does.
    """
    return annotations.get(f"{ANNOTATION_PREFIX}auto-provision") == "true"


def max_replicas_of(annotations: Mapping[str, str]) -> int | None:
    """Return the upper limit that the annotations set, None if they set none."""
    return _parse_int(annotations.get(f"{ANNOTATION_PREFIX}max-replicas", ""))


def find_annotation_problems(
    annotations: Mapping[str, str], limit: ReplicaLimit
) -> tuple[AnnotationProblem, ...]:
    """Return all problems; none for an InferenceSet that does not ask to be scaled."""
    if not is_auto_provision_enabled(annotations):
        return ()
    given = {
        key.removeprefix(ANNOTATION_PREFIX): value
        for key, value in annotations.items()
        if key.startswith(ANNOTATION_PREFIX)
    }
    return (
        *(
            AnnotationProblem(AnnotationCode.REPLICAS, text)
            for text in _replica_problems(given, limit)
        ),
        *(AnnotationProblem(AnnotationCode.METRICS, text) for text in _metric_problems(given)),
        *(AnnotationProblem(AnnotationCode.COOLDOWN, text) for text in _duration_problems(given)),
    )


def _replica_problems(given: Mapping[str, str], limit: ReplicaLimit) -> Iterable[str]:
    max_text = given.get("max-replicas")
    # The scaler reads a min-replicas that is no number, or below 1, as 1.
    min_replicas = max(_parse_int(given.get("min-replicas", "")) or 1, 1)
    if max_text is None and not limit.node_count_limit:
        yield f"{ANNOTATION_PREFIX}max-replicas is missing, and spec.nodeCountLimit is not set"
        return
    max_replicas = _parse_int(max_text) if max_text is not None else None
    if max_text is not None and max_replicas is None:
        must = "must be a whole number greater than 1"
        yield f"{_format_annotation('max-replicas', max_text)} {must}"
    elif max_replicas is not None and max_replicas <= 1:
        yield f"{_format_annotation('max-replicas', max_text)} must be greater than 1"
    elif limit.node_count_limit:
        if limit.max_replicas is not None and limit.max_replicas < min_replicas:
            yield (
                f"{_format_annotation('min-replicas', given['min-replicas'])}"
                f" must not be greater than the {limit.max_replicas}"
                f" that spec.nodeCountLimit={limit.node_count_limit} allows"
            )
    elif max_replicas is not None and max_replicas < min_replicas:
        less = f"less than min-replicas={_quoted(given['min-replicas'])}"
        yield f"{_format_annotation('max-replicas', max_text)} must not be {less}"


def _metric_problems(given: Mapping[str, str]) -> Iterable[str]:
    policy = given.get("combinepolicy", "")
    if policy and policy.upper() != "AND":
        yield f"{_format_annotation('combinepolicy', policy)} must be AND"
    text = given.get("metrics", "")
    if not text.strip():
        yield f"{ANNOTATION_PREFIX}metrics is missing; it lists what to scale by"
        return
    for problem in find_metric_problems(text):
        yield f"{ANNOTATION_PREFIX}metrics: {problem}"


def _duration_problems(given: Mapping[str, str]) -> Iterable[str]:
    for name in DURATION_ANNOTATIONS:
        text = given.get(name, "")
        seconds = _parse_int(text)
        if text and (seconds is None or not 0 <= seconds <= MAX_SECONDS):
            yield f"{_format_annotation(name, text)} must be a whole number of seconds, 0 or more"


def _parse_int(text: str) -> int | None:
    """
    Parse like Go's strconv.Atoi: 64 bits, no blanks, no underscores. Python's int() accepts more.
    """
    if not INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _format_annotation(name: str, value: str | None) -> str:
    return f"{ANNOTATION_PREFIX}{name}={_quoted(value or '')}"


def _quoted(value: str) -> str:
    return f'"{truncate_bytes(sanitize(value), MAX_VALUE_BYTES)}"'
