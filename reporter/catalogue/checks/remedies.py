"""Check that every Warning says what to do, and for no cause that its probe does not know."""

from collections.abc import Iterable

from msgspec import UNSET

from reporter.catalogue.checks.templates import check_template
from reporter.catalogue.drafts import Draft, Drafts, KnownNames
from reporter.catalogue.problems import Problem, suggest_name
from reporter.model.enums import EventType


DEFAULT_REMEDY = "default"


def check_remedies(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    for draft in drafts.all:
        if draft.spec is None or draft.lacks_subjects:
            continue
        if draft.entry.type is EventType.WARNING:
            fields = draft.subject_fields | draft.spec.message_fields
            codes = None if draft.spec.any_cause_code else draft.spec.cause_codes
            yield from _check_remedy(draft, codes, fields)


def _check_remedy(
    draft: Draft, codes: frozenset[str] | None, fields: frozenset[str]
) -> Iterable[Problem]:
    """Yield the problems of the remedies. *codes*: None if there may be any."""
    remedy = {} if draft.entry.remedy is UNSET else draft.entry.remedy
    if DEFAULT_REMEDY not in remedy:
        text = "remedy: `default` is missing: say what to do about causes that have no remedy of their own"
        yield draft.problem(text, "remedy")
    for code, sentence in remedy.items():
        yield from check_template(draft, sentence, fields, "remedy", code)
        if codes is not None and not _code_parts(code) <= codes | {DEFAULT_REMEDY}:
            offer = suggest_name(code, codes)
            yield draft.problem(f"remedy: unknown code `{code}`: {offer}", "remedy", code)
        if "://" in sentence:
            text = f"remedy.{code}: an Event must not contain a URL; remove it"
            yield draft.problem(text, "remedy", code)


def _code_parts(code: str) -> frozenset[str]:
    """Return both parts of a code such as Unavailable.Crash."""
    return frozenset(code.split(".", 1))
