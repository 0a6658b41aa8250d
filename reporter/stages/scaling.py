"""
Whether the scaling annotations of an InferenceSet are such that keda-kaito-scaler acts on them.

Rules: keda-kaito-scaler, pkg/scaledobject and pkg/controllers/autoprovision. What it cannot accept it
leaves lying, without an Event, so that a typo looks like a model that merely does not scale.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique

from reporter.stages.foreign import clean, shorten
from reporter.stages.scaling_metrics import metrics


PREFIX = "scaledobject.kaito.sh/"
SECONDS = ("evaluationwindow", "scaleupcooldown", "scaledowncooldown")
MOST_SECONDS = 2**31 - 1
WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
LONGEST = 40
"""
Bytes of a value in a message; these are typed by hand, or by a template.
"""


@unique
class Code(StrEnum):
    """
    What kind of annotation is wrong.
    """

    REPLICAS = "Replicas"
    METRICS = "Metrics"
    COOLDOWN = "Cooldown"


@dataclass(frozen=True, slots=True)
class Complaint:
    """
    *text* names the annotation and says why.
    """

    code: Code
    text: str


@dataclass(frozen=True, slots=True)
class Limit:
    """
    ``spec.nodeCountLimit``, 0 for none, and the nodes of one replica, 0 while KAITO has not said.
    """

    nodes: int = 0
    of_one: int = 0

    @property
    def replicas(self) -> int | None:
        return max(self.nodes // self.of_one, 1) if self.nodes and self.of_one else None


def is_asked_for(annotations: Mapping[str, str]) -> bool:
    return annotations.get(f"{PREFIX}auto-provision") == "true"


def complaints(annotations: Mapping[str, str], limit: Limit) -> tuple[Complaint, ...]:
    """
    All that is wrong; nothing for a set that did not ask to be scaled.
    """
    if not is_asked_for(annotations):
        return ()
    given = {
        key.removeprefix(PREFIX): value
        for key, value in annotations.items()
        if key.startswith(PREFIX)
    }
    return (
        *(Complaint(Code.REPLICAS, text) for text in _replicas(given, limit)),
        *(Complaint(Code.METRICS, text) for text in _metrics(given)),
        *(Complaint(Code.COOLDOWN, text) for text in _seconds(given)),
    )


def _replicas(given: Mapping[str, str], limit: Limit) -> Iterable[str]:
    said, least = given.get("max-replicas"), max(_whole(given.get("min-replicas", "")) or 1, 1)
    if said is None and not limit.nodes:
        yield f"{PREFIX}max-replicas is missing, and spec.nodeCountLimit is not set"
        return
    most = _whole(said) if said is not None else None
    if said is not None and most is None:
        yield f"{_told('max-replicas', said)} must be a whole number greater than 1"
    elif most is not None and most <= 1:
        yield f"{_told('max-replicas', said)} must be greater than 1"
    elif limit.nodes:
        if limit.replicas is not None and limit.replicas < least:
            yield (
                f"{_told('min-replicas', given['min-replicas'])} must not be greater than the"
                f" {limit.replicas} that spec.nodeCountLimit={limit.nodes} allows"
            )
    elif most is not None and most < least:
        less = f"less than min-replicas={_quoted(given['min-replicas'])}"
        yield f"{_told('max-replicas', said)} must not be {less}"


def _metrics(given: Mapping[str, str]) -> Iterable[str]:
    policy = given.get("combinepolicy", "")
    if policy and policy.upper() != "AND":
        yield f"{_told('combinepolicy', policy)} must be AND"
    text = given.get("metrics", "")
    if not text.strip():
        yield f"{PREFIX}metrics is missing; it lists what to scale by"
        return
    for why in metrics(text):
        yield f"{PREFIX}metrics: {why}"


def _seconds(given: Mapping[str, str]) -> Iterable[str]:
    for name in SECONDS:
        said = given.get(name, "")
        span = _whole(said)
        if said and (span is None or not 0 <= span <= MOST_SECONDS):
            yield f"{_told(name, said)} must be a whole number of seconds, 0 or more"


def _whole(text: str) -> int | None:
    """
    As Go's strconv.Atoi reads it: no blanks, no underscores, 64 bits.
    """
    if not WHOLE.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _told(name: str, value: str | None) -> str:
    return f"{PREFIX}{name}={_quoted(value or '')}"


def _quoted(value: str) -> str:
    return f'"{shorten(clean(value), LONGEST)}"'
