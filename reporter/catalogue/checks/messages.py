"""Check that a message names its subject, and only fields that its probe fills."""

from collections.abc import Iterable

from msgspec import UNSET

from reporter.catalogue.checks.templates import check_template, field_names
from reporter.catalogue.drafts import Draft, Drafts, KnownNames
from reporter.catalogue.problems import Problem
from reporter.model.enums import EventType


FOREIGN_TEXT_FIELD = "foreign"


def check_messages(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    for draft in drafts.all:
        if not draft.lacks_subjects:
            yield from _check_message(draft)


def _check_message(draft: Draft) -> Iterable[Problem]:
    message = draft.entry.message
    # Nobody knows the fields of a probe that there is not.
    is_known = draft.spec is not None or draft.entry.probe is UNSET
    allowed = _allowed_fields(draft) if is_known else field_names(message)
    problems = list(check_template(draft, message, allowed, "message"))
    yield from problems
    named = field_names(message)
    for field in sorted(draft.subject_fields - named):
        if named or not problems:
            yield draft.problem(f"message: must name its subject; add {{{field}}}", "message")
    if "://" in message:
        yield draft.problem("message: an Event must not contain a URL; remove it", "message")


def _allowed_fields(draft: Draft) -> frozenset[str]:
    subject = draft.subject_fields
    if draft.entry.type is EventType.NORMAL or draft.spec is None:
        return subject
    return subject | draft.spec.message_fields | {FOREIGN_TEXT_FIELD}
