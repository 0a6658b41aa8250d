"""
Whether the operator of gateway auth has made the API keys of a workload namespace.

What its conditions are called is not published, so any that is False counts, but for those that
by their name are well when False. What it says may quote a key, which must not be passed on.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.kaito_objects import APIKey
from reporter.model.kinds import API_KEYS, NAMESPACES
from reporter.model.objects import Condition
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.model.words import Kind
from reporter.stages.conditions import named, since, stale
from reporter.stages.gateways import of_harness
from reporter.stages.indexes import in_namespace
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.ruling import Found, ruling, undecoded, unserved
from reporter.stages.secrecy import REMOVED
from reporter.stages.snapshot import Snapshot


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *well_when_false*: words in a condition's type that name something bad or passing.
    """

    well_when_false: tuple[str, ...] = ()


EXPIRED = "Expired"
KEY = re.compile(
    r"(?<![\w+/=.-])(?=[\w+/=.-]*[a-z])(?=[\w+/=.-]*[A-Z])(?=[\w+/=.-]*\d)[\w+/=.-]{16,}"
    r"|[0-9a-f]{24,}"
)
"""
Mixed letters and digits, or long hexadecimal numbers, as no Kubernetes name has them.
"""


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    found = [] if unserved(snapshot, API_KEYS) else _found(snapshot, question)
    yield ruling(snapshot, question.key(), found)


def _found(snapshot: Snapshot, question: Question) -> Iterable[Found | None]:
    namespace = question.subject.namespace
    for key in snapshot.find(API_KEYS, APIKey, in_namespace(namespace)):
        if key.metadata.deletion_timestamp is None:
            yield undecoded(snapshot, API_KEYS, namespace, key.metadata.name)
            yield _one(key, question.parameters.well_when_false)


def _one(key: APIKey, well_when_false: Iterable[str]) -> Found | None:
    """
    A key that someone made for a while may expire; that of the harness is renewed before.
    """
    if key.status.phase == EXPIRED:
        return _trouble(key, EXPIRED, Kind.FAILED, "has expired") if of_harness(key) else None
    where = f"APIKey {key.metadata.namespace}/{key.metadata.name}"
    conditions = [c for c in key.status.conditions or () if not _is_bad(c, well_when_false)]
    for each in conditions:
        late = stale(each, key.metadata, where)
        if late is not None:
            return late
    failed = next((c for c in sorted(conditions, key=_type) if c.status == "False"), None)
    if failed is not None:
        reason = _keyless(named(failed))
        return _trouble(key, "NotReconciled", Kind.FAILED, f"is not reconciled ({reason})", failed)
    if key.status.phase == "Pending" or not (key.status.phase or conditions):
        return _trouble(key, "Pending", Kind.STARTING, "is still Pending")
    return None


def _is_bad(condition: Condition, words: Iterable[str]) -> bool:
    return any(word in condition.type for word in words)


def _type(condition: Condition) -> str:
    return condition.type


def _keyless(text: str) -> str:
    return KEY.sub(REMOVED, text)


def _trouble(
    key: APIKey, code: str, kind: Kind, state: str, by: Condition | None = None
) -> Trouble:
    meta = key.metadata
    return Trouble(
        cause=Cause(ObjectRef(API_KEYS.qualified, meta.namespace, meta.name), code),
        kind=kind,
        out=True,
        born=meta.creation_timestamp,
        since=since(by, meta) if by is not None else None,
        fields={"object": f"APIKey {meta.name}", "state": state},
        foreign=_keyless(by.message or "") if by is not None else "",
    )


PROBE = Probe(
    ProbeSpec(
        name="api-keys",
        parameters=Parameters,
        fields=frozenset({"object", "state"}),
        codes=frozenset({"NotReconciled", "Pending", EXPIRED}),
        requires=(API_KEYS,),
        uses=(NAMESPACES,),
        demands=lambda _: frozenset({API_KEYS.qualified}),
    ),
    judge,
)
