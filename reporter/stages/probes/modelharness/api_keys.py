"""
Whether the operator of gateway auth has made the API keys of a workload namespace.

What its conditions are called is not published, so any that is False counts, but for those that
by their name are well when False. What it says may quote a key, which must not be passed on.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.kaito import APIKey
from reporter.model.kinds.objects import Condition
from reporter.model.kinds.resource_kinds import API_KEYS, NAMESPACES
from reporter.model.redact import REMOVED
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import (
    CheckResult,
    check_decoded,
    check_served,
    to_verdict,
)
from reporter.stages.resources.conditions import (
    check_observed_generation,
    reason_text,
    transition_time,
)
from reporter.stages.resources.gateway.gateways import is_owned_by_harness
from reporter.stages.snapshot.index_keys import namespace_key
from reporter.stages.snapshot.snapshot import Snapshot


class APIKeysParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *well_when_false*: words in a condition's type that name something bad or passing.
    """

    well_when_false: tuple[str, ...] = ()


EXPIRED = "Expired"
KEY_PATTERN = re.compile(
    r"(?<![\w+/=.-])(?=[\w+/=.-]*[a-z])(?=[\w+/=.-]*[A-Z])(?=[\w+/=.-]*\d)[\w+/=.-]{16,}"
    r"|[0-9a-f]{24,}"
)
"""
Mixed letters and digits, or long hexadecimal numbers, as no Kubernetes name has them.
"""


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    found = [] if check_served(snapshot, API_KEYS) else _find_troubles(snapshot, question)
    yield to_verdict(snapshot, question.key(), found)


def _find_troubles(snapshot: Snapshot, question: ProbeRequest) -> Iterable[CheckResult | None]:
    namespace = question.subject.namespace
    for key in snapshot.by_index(API_KEYS, APIKey, namespace_key(namespace)):
        if key.metadata.deletion_timestamp is None:
            yield check_decoded(snapshot, API_KEYS, namespace, key.metadata.name)
            yield _evaluate_key(key, question.parameters.well_when_false)


def _evaluate_key(key: APIKey, well_when_false: Iterable[str]) -> CheckResult | None:
    """
    A key that someone made for a while may expire; that of the harness is renewed before.
    """
    if key.status.phase == EXPIRED:
        return (
            _new_trouble(key, EXPIRED, TroubleKind.FAILED, "has expired")
            if is_owned_by_harness(key)
            else None
        )
    where = f"APIKey {key.metadata.namespace}/{key.metadata.name}"
    conditions = [
        c for c in key.status.conditions or () if not _has_negative_polarity(c, well_when_false)
    ]
    for each in conditions:
        late = check_observed_generation(each, key.metadata, where)
        if late is not None:
            return late
    failed = next(
        (c for c in sorted(conditions, key=_condition_type) if c.status == "False"), None
    )
    if failed is not None:
        reason = _redact_keys(reason_text(failed))
        return _new_trouble(
            key, "NotReconciled", TroubleKind.FAILED, f"is not reconciled ({reason})", failed
        )
    if key.status.phase == "Pending" or not (key.status.phase or conditions):
        return _new_trouble(key, "Pending", TroubleKind.STARTING, "is still Pending")
    return None


def _has_negative_polarity(condition: Condition, words: Iterable[str]) -> bool:
    return any(word in condition.type for word in words)


def _condition_type(condition: Condition) -> str:
    return condition.type


def _redact_keys(text: str) -> str:
    return KEY_PATTERN.sub(REMOVED, text)


def _new_trouble(
    key: APIKey, code: str, kind: TroubleKind, state: str, by: Condition | None = None
) -> Trouble:
    meta = key.metadata
    return Trouble(
        cause=Cause(ObjectRef(API_KEYS.group_resource, meta.namespace, meta.name), code),
        kind=kind,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        since=transition_time(by, meta) if by is not None else None,
        message_fields={"object": f"APIKey {meta.name}", "state": state},
        foreign_text=_redact_keys(by.message or "") if by is not None else "",
    )


PROBE = Probe(
    ProbeSpec(
        name="api-keys",
        parameters_type=APIKeysParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset({"NotReconciled", "Pending", EXPIRED}),
        required_kinds=(API_KEYS,),
        optional_kinds=(NAMESPACES,),
        required_crds=lambda _: frozenset({API_KEYS.group_resource}),
    ),
    evaluate,
)
