"""
A reason that cannot be acted on is not worth an Event.
"""

from collections.abc import Iterable

from msgspec import UNSET

from reporter.catalogue.drafts import Draft, Drafts, Known
from reporter.catalogue.problems import Problem, nearest
from reporter.model.words import EventType


DEFAULT = "default"


def check(drafts: Drafts, known: Known) -> Iterable[Problem]:
    for draft in drafts.all:
        if draft.spec is not None and draft.entry.type is EventType.WARNING:
            yield from _remedy(draft, draft.spec.codes)


def _remedy(draft: Draft, codes: frozenset[str]) -> Iterable[Problem]:
    remedy = {} if draft.entry.remedy is UNSET else draft.entry.remedy
    if DEFAULT not in remedy:
        text = "remedy: `default` is missing: say what to do about causes without their own"
        yield draft.problem(text, "remedy")
    for code, sentence in remedy.items():
        if not _codes(code) <= codes | {DEFAULT}:
            offer = nearest(code, codes)
            yield draft.problem(f"remedy: unknown code `{code}`: {offer}", "remedy", code)
        if "://" in sentence:
            text = f"remedy.{code}: an Event carries no URL; remove it"
            yield draft.problem(text, "remedy", code)


def _codes(code: str) -> frozenset[str]:
    """
    Both parts of a code such as Unavailable.Crash.
    """
    return frozenset(code.split(".", 1))
