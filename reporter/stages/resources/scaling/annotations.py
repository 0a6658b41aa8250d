"""
Problems of an InferenceSet's scaling annotations for which keda-kaito-scaler ignores them.

The scaler mostly ignores an invalid annotation without an Event, so that a typo looks like a model
that never scales. Source: keda-kaito-scaler, pkg/scaledobject and pkg/controllers/autoprovision.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum, unique

from msgspec import Struct

from reporter.stages.resources.scaling.metrics_annotation import find_metric_problems
from reporter.stages.text.sanitize import sanitize, truncate_bytes


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
        return (
            max(self.node_count_limit // self.nodes_per_replica, 1)
            if self.node_count_limit and self.nodes_per_replica
            else None
        )


def is_auto_provision_enabled(annotations: Mapping[str, str]) -> bool:
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
