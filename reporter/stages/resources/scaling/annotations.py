"""
Whether the scaling annotations of an InferenceSet are such that keda-kaito-scaler acts on them.

Rules: keda-kaito-scaler, pkg/scaledobject and pkg/controllers/autoprovision. What it cannot accept it
leaves lying, without an Event, so that a typo looks like a model that merely does not scale.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique

from reporter.stages.resources.scaling.metrics_annotation import find_metric_problems
from reporter.stages.text.sanitize import sanitize, truncate_bytes


ANNOTATION_PREFIX = "scaledobject.kaito.sh/"
DURATION_ANNOTATIONS = ("evaluationwindow", "scaleupcooldown", "scaledowncooldown")
MAX_SECONDS = 2**31 - 1
INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
MAX_VALUE_BYTES = 40
"""
Bytes of a value in a message; these are typed by hand, or by a template.
"""


@unique
class AnnotationCode(StrEnum):
    """
    What kind of annotation is wrong.
    """

    REPLICAS = "Replicas"
    METRICS = "Metrics"
    COOLDOWN = "Cooldown"


@dataclass(frozen=True, slots=True)
class AnnotationProblem:
    """
    *text* names the annotation and says why.
    """

    code: AnnotationCode
    text: str


@dataclass(frozen=True, slots=True)
class ReplicaLimit:
    """
    ``spec.nodeCountLimit``, 0 for none, and the nodes of one replica, 0 while KAITO has not said.
    """

    node_count_limit: int = 0
    nodes_per_replica: int = 0

    @property
    def max_replicas(self) -> int | None:
        return (
            max(self.node_count_limit // self.nodes_per_replica, 1)
            if self.node_count_limit and self.nodes_per_replica
            else None
        )


def is_auto_provision_enabled(annotations: Mapping[str, str]) -> bool:
    return annotations.get(f"{ANNOTATION_PREFIX}auto-provision") == "true"


def find_annotation_problems(
    annotations: Mapping[str, str], limit: ReplicaLimit
) -> tuple[AnnotationProblem, ...]:
    """
    All that is wrong; nothing for a set that did not ask to be scaled.
    """
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
    said, least = given.get("max-replicas"), max(_parse_int(given.get("min-replicas", "")) or 1, 1)
    if said is None and not limit.node_count_limit:
        yield f"{ANNOTATION_PREFIX}max-replicas is missing, and spec.nodeCountLimit is not set"
        return
    most = _parse_int(said) if said is not None else None
    if said is not None and most is None:
        yield f"{_format_annotation('max-replicas', said)} must be a whole number greater than 1"
    elif most is not None and most <= 1:
        yield f"{_format_annotation('max-replicas', said)} must be greater than 1"
    elif limit.node_count_limit:
        if limit.max_replicas is not None and limit.max_replicas < least:
            yield (
                f"{_format_annotation('min-replicas', given['min-replicas'])} must not be greater than the"
                f" {limit.max_replicas} that spec.nodeCountLimit={limit.node_count_limit} allows"
            )
    elif most is not None and most < least:
        less = f"less than min-replicas={_quoted(given['min-replicas'])}"
        yield f"{_format_annotation('max-replicas', said)} must not be {less}"


def _metric_problems(given: Mapping[str, str]) -> Iterable[str]:
    policy = given.get("combinepolicy", "")
    if policy and policy.upper() != "AND":
        yield f"{_format_annotation('combinepolicy', policy)} must be AND"
    text = given.get("metrics", "")
    if not text.strip():
        yield f"{ANNOTATION_PREFIX}metrics is missing; it lists what to scale by"
        return
    for why in find_metric_problems(text):
        yield f"{ANNOTATION_PREFIX}metrics: {why}"


def _duration_problems(given: Mapping[str, str]) -> Iterable[str]:
    for name in DURATION_ANNOTATIONS:
        said = given.get(name, "")
        span = _parse_int(said)
        if said and (span is None or not 0 <= span <= MAX_SECONDS):
            yield f"{_format_annotation(name, said)} must be a whole number of seconds, 0 or more"


def _parse_int(text: str) -> int | None:
    """
    As Go's strconv.Atoi reads it: no blanks, no underscores, 64 bits.
    """
    if not INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _format_annotation(name: str, value: str | None) -> str:
    return f"{ANNOTATION_PREFIX}{name}={_quoted(value or '')}"


def _quoted(value: str) -> str:
    return f'"{truncate_bytes(sanitize(value), MAX_VALUE_BYTES)}"'
