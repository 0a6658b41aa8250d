"""Render what is wrong and what to do, as in the Event of a finding, without its suffixes."""

from collections.abc import Iterable

import msgspec

from reporter.announcing.message import (
    MessageInput,
    ReportedTrouble,
    fill_remedy,
    render_message,
)
from reporter.evaluation.clocks import ZERO
from reporter.model.status_document import Suppressed
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import Trouble
from reporter.rollup.records import SuppressedFinding
from reporter.rollup.rules import RollUpRules


def render_texts(
    key: FindingKey, troubles: Iterable[Trouble], rules: RollUpRules
) -> tuple[str, str]:
    """Return the message and the remedy, which has a key of its own, of at least one trouble."""
    reported = tuple(ReportedTrouble(each, ZERO) for each in troubles)
    first = min(reported, key=lambda each: _order(each.trouble))
    entry = rules.entry(key)
    whole = MessageInput(entry, key.subject, reported)
    bare = msgspec.structs.replace(whole, entry=msgspec.structs.replace(entry, remedies={}))
    return render_message(bare), fill_remedy(whole, first)


def describe_suppressed(
    findings: Iterable[SuppressedFinding], rules: RollUpRules
) -> tuple[Suppressed, ...]:
    return tuple(_describe(each, rules) for each in findings)


def _describe(finding: SuppressedFinding, rules: RollUpRules) -> Suppressed:
    cause = min(finding.troubles, key=_order).cause
    return Suppressed(
        reason=finding.key.reason,
        code=cause.code,
        object=str(cause.object),
        message=render_texts(finding.key, finding.troubles, rules)[0],
        held=finding.held,
        by=finding.by,
    )


def _order(trouble: Trouble) -> tuple[object, ...]:
    # The order of the message, whose first sentence is about the first.
    return (not trouble.is_out, trouble.cause)
