"""
Check that a message names its subject, and only fields that its probe fills.
"""

from collections.abc import Iterable

from reporter.catalogue.checks.templates import check_template, field_names
from reporter.catalogue.drafts import Draft, Drafts, KnownNames
from reporter.catalogue.problems import Problem
from reporter.model.enums import EventType, Layer


SUBJECT_FIELDS = {
    Layer.CLUSTER: frozenset[str](),
    Layer.MODELHARNESS: frozenset({"namespace"}),
    Layer.MODELDEPLOYMENT: frozenset({"namespace", "inferenceset"}),
}
"""
The fields of a layer's subject. A message must name all of them.
"""

FOREIGN_TEXT_FIELD = "foreign"


def check_messages(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    for draft in drafts.all:
        yield from _check_message(draft)


def _check_message(draft: Draft) -> Iterable[Problem]:
    message = draft.entry.message
    problems = list(check_template(draft, message, _allowed_fields(draft), "message"))
    yield from problems
    named = field_names(message)
    for field in sorted(SUBJECT_FIELDS[draft.entry.layer] - named):
        if named or not problems:
            yield draft.problem(f"message: must name its subject; add {{{field}}}", "message")
    if "://" in message:
        yield draft.problem("message: an Event must not contain a URL; remove it", "message")


def _allowed_fields(draft: Draft) -> frozenset[str]:
    subject = SUBJECT_FIELDS[draft.entry.layer]
    if draft.entry.type is EventType.NORMAL or draft.spec is None:
        return subject
    return subject | draft.spec.message_fields | {FOREIGN_TEXT_FIELD}
