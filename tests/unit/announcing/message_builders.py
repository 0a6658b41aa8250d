"""Builders of messages from troubles."""

from datetime import timedelta

from reporter.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.model.subjects import CLUSTER_SUBJECT
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


ZERO = timedelta(0)
BBR = DEFAULT_CATALOGUE["clusterBBRNotReady"]
REMEDY = "look at it."
OTHERS = tuple(
    sorted(reason for reason in DEFAULT_CATALOGUE.entries if reason.startswith("cluster"))
)
SUPPRESSED = tuple(sorted(r for r in DEFAULT_CATALOGUE.entries if not r.startswith("cluster")))


def a_message_input(*troubles, entry=BBR, lasted=ZERO, **changes) -> MessageInput:
    reported = tuple(ReportedTrouble(each, lasted) for each in troubles)
    subject = changes.pop("subject", CLUSTER_SUBJECT)
    return MessageInput(entry, subject, reported, **changes)


def render(*troubles, **changes) -> str:
    return render_message(a_message_input(*troubles, **changes))


def digest(*troubles, **changes) -> str:
    return a_message_input(*troubles, **changes).content_digest
