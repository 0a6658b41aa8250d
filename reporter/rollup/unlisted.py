"""Subjects that may exist although they are not known, as what makes them cannot be listed."""

from collections.abc import Mapping
from datetime import datetime

from reporter.model.enums import Layer
from reporter.model.states import Actionability, Pattern, SinceFrom
from reporter.model.status_document import Blocking
from reporter.model.subjects import Subject
from reporter.rollup.records import RollUp
from reporter.rollup.rules import LAYER_WINDOWS
from reporter.rollup.standings import NOT_LISTED
from reporter.snapshot.subjects import placeholder, unlisted_in_namespaces


def unlisted_namespaces(unknown: Mapping[Subject, str]) -> Subject:
    """Return what would make a namespace known that is not: harnesses, or subjects of a pack."""
    harness = placeholder(Layer.MODELHARNESS)
    of_packs = {each: why for each, why in unknown.items() if each.kind}
    return harness if harness in unknown else unlisted_in_namespaces(of_packs) or harness


def unlisted_blocking(rollup: RollUp, whole: Subject, why: str, *, now: datetime) -> Blocking:
    """
    Return what blocks it as of *now*. Beyond the window, somebody has to let *whole* be listed.

    Since when is not known before the first pass, or if no reason about *whole* is evaluated.
    """
    unknown = rollup.evaluation.gate.unknown_states
    since = min(
        (each.since for key, each in unknown.items() if key.subject == whole), default=None
    )
    lasted, window = now - (since or now), LAYER_WINDOWS[whole.layer]
    stalled = lasted >= window
    return Blocking(
        code=NOT_LISTED,
        layer=whole.layer,
        message=why,
        actionability=Actionability.PLATFORM if stalled else Actionability.TRANSIENT,
        since=since,
        since_from=None if since is None else SinceFrom.PROCESS,
        in_state_seconds=max(int(lasted.total_seconds()), 0),
        window_seconds=int(window.total_seconds()),
        stalled=stalled,
        pattern=Pattern.NO_TERMINAL_STATE_REPORTED if stalled else None,
    )
