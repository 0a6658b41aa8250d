"""
Check that a message names its subject, and only fields that its probe fills.
"""

from collections.abc import Iterable
from string import Formatter

from reporter.catalogue.drafts import Draft, Drafts, KnownNames
from reporter.catalogue.problems import Problem, suggest_name
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
    try:
        parsed = list(Formatter().parse(message))
    except ValueError as err:
        yield draft.problem(f"message: {err}; write {{{{ and }}}} for braces", "message")
        return
    allowed = _allowed_fields(draft)
    named = [(field, spec, how) for _, field, spec, how in parsed if field is not None]
    for field, spec, how in named:
        if spec or how or not field.isidentifier():
            text = f"message: `{{{field}}}` must be a plain name in braces, such as {{object}}"
            yield draft.problem(text, "message")
        elif field not in allowed:
            text = f"message: unknown field `{{{field}}}`: {suggest_name(field, allowed)}"
            yield draft.problem(text, "message")
    for field in sorted(SUBJECT_FIELDS[draft.entry.layer] - {field for field, *_ in named}):
        yield draft.problem(f"message: must name its subject; add {{{field}}}", "message")
    if "://" in message:
        yield draft.problem("message: an Event must not contain a URL; remove it", "message")


def _allowed_fields(draft: Draft) -> frozenset[str]:
    subject = SUBJECT_FIELDS[draft.entry.layer]
    if draft.entry.type is EventType.NORMAL or draft.spec is None:
        return subject
    return subject | draft.spec.message_fields | {FOREIGN_TEXT_FIELD}
