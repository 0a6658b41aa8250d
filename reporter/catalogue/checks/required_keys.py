"""Check the keys that an entry of its type must and must not have, and the prefix of its name."""

from collections.abc import Iterable

from reporter.catalogue.drafts import Draft, Drafts, KnownNames
from reporter.catalogue.problems import Problem
from reporter.model.enums import EventType


CLUSTER_PREFIX = "cluster"
WARNING_ONLY_KEYS = (
    "probe",
    "parameters",
    "rank",
    "orthogonal",
    "hold",
    "settle",
    "window",
    "remedy",
    "runbook",
    "suppresses",
)


def check_required_keys(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    seen: dict[str, Draft] = {}
    for draft in drafts.all:
        if draft.reason in seen:
            first = seen[draft.reason].where("reason")
            text = f"this reason is defined at {first} already; remove one of the two"
            yield draft.problem(text, "reason")
        seen.setdefault(draft.reason, draft)
        yield from _check_name(draft)
        yield from (
            _check_normal_entry(draft)
            if draft.entry.type is EventType.NORMAL
            else _check_warning_entry(draft)
        )


def _check_name(draft: Draft) -> Iterable[Problem]:
    if draft.lacks_subjects:
        return
    prefix = draft.rule.prefix if draft.rule is not None else CLUSTER_PREFIX
    if not draft.reason.startswith(prefix) or not draft.reason[len(prefix) :][:1].isupper():
        text = f"reasons of layer {draft.entry.layer} begin with `{prefix}`; rename it"
        yield draft.problem(text, "reason")


def _check_normal_entry(draft: Draft) -> Iterable[Problem]:
    for key in WARNING_ONLY_KEYS:
        if key in draft.node.values:
            text = f"a Normal reason has no probe and no `{key}`; remove it"
            yield draft.problem(text, key)
    if not draft.enabled:
        text = "it ends the episodes of its layer and cannot be switched off; remove `enabled`"
        yield Problem(draft.node.where("enabled"), f"{draft.reason}: {text}")


def _check_warning_entry(draft: Draft) -> Iterable[Problem]:
    if "probe" not in draft.node.values:
        yield draft.problem("a Warning needs a `probe` that evaluates it; add it", "reason")
    ranked = "rank" in draft.node.values
    if ranked and draft.entry.orthogonal:
        where = "rank" if _is_rank_from_overlay(draft) else "orthogonal"
        text = "has a rank and is orthogonal; remove one of the two"
        yield draft.problem(text, where)
    if not ranked and not draft.entry.orthogonal:
        yield draft.problem("needs a `rank`, or `orthogonal: true`; add one", "reason")


def _is_rank_from_overlay(draft: Draft) -> bool:
    """Return whether an overlay set the rank; the error then names the overlay's line."""
    return draft.where("rank").file != draft.where("orthogonal").file
