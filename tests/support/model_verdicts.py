"""Evaluate a reason about the InferenceSet of the builders, and read its verdict."""

from datetime import timedelta

import msgspec
from msgspec.structs import replace

from reporter.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.evaluation.clocks import NOTHING_TRACKED
from reporter.evaluation.probe_run import prepare_probe_run
from reporter.evaluation.registry import PROBES, SPECS
from reporter.kinds.core import Pod
from reporter.model.enums import Reason
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active
from reporter.store.store import Store
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS, a_probe_request
from tests.support.model_builders import MODEL, SUBJECT, TEAM, a_model_store
from tests.support.probe_verdicts import verdicts_of_request


def needs_metrics_page(reason: Reason, *objects) -> bool:
    """
    Return whether the reason's probe reads the metrics page of one of these objects.

    Without that page its verdict is Unknown, however healthy the objects are.
    """
    entry = DEFAULT_CATALOGUE[reason]
    build = SPECS[entry.probe].scrape
    scrape = build(entry.parameters, DEFAULT_FLAGS) if build is not None else None
    return scrape is not None and any(
        isinstance(each, Pod) and scrape.pods.matches(each) for each in objects
    )


def verdict_of(reason: str, *objects, deleted=(), store: Store | None = None):
    """Return the verdict of a reason's probe about the InferenceSet."""
    store = store or a_model_store(*objects, deleted=deleted)
    request = msgspec.structs.replace(a_probe_request(reason), subject=SUBJECT)
    (verdict,) = verdicts_of_request(request, store)
    return verdict


def a_probe_run(store: Store):
    """Return the probes of all reasons, prepared as for the first pass."""
    return prepare_probe_run(
        store.snapshot(),
        NOTHING_TRACKED,
        DEFAULT_CATALOGUE,
        PROBES,
        flags=DEFAULT_FLAGS,
        now=NOON,
    )


def verdict_in_a_pass(store: Store, reason: str, subject: Subject = SUBJECT):
    """
    Return the verdict of a reason's probe, with what a pass knows of kinds that cannot be read.
    """
    run = a_probe_run(store)
    (found,) = [each for each in run.run([subject]) if each.key.reason == reason]
    return found


def rendered_message(verdict) -> str:
    """Return the rendered message, without the remedy."""
    assert isinstance(verdict, Active), verdict
    entry = replace(DEFAULT_CATALOGUE[verdict.key.reason], remedies={})
    troubles = tuple(ReportedTrouble(trouble, timedelta(0)) for trouble in verdict.troubles)
    message = render_message(MessageInput(entry, SUBJECT, troubles))
    return message.removeprefix(f"InferenceSet {TEAM}/{MODEL}: ")
