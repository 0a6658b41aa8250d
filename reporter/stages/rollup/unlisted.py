"""
The cause of a subject that is asked for by name, and may exist although its layer cannot be listed.
"""

from datetime import datetime

from reporter.model.enums import Layer
from reporter.model.rollup.states import Actionability, Pattern, SinceFrom
from reporter.model.rollup.status import Blocking
from reporter.stages.rollup.records import RollUp
from reporter.stages.rollup.rules import LAYER_WINDOWS
from reporter.stages.rollup.subjects.standings import NOT_LISTED
from reporter.stages.snapshot.unknown_layers import placeholder


def unlisted_blocking(rollup: RollUp, layer: Layer, why: str, *, now: datetime) -> Blocking:
    """
    Return what blocks it as of *now*. Beyond the window, somebody has to let the layer be listed.

    Since when is not known before the first pass, or if no reason of the layer is evaluated.
    """
    whole = placeholder(layer)
    unknown = rollup.evaluation.gate.unknown_states
    since = min(
        (each.since for key, each in unknown.items() if key.subject == whole), default=None
    )
    lasted, window = now - (since or now), LAYER_WINDOWS[layer]
    stalled = lasted >= window
    return Blocking(
        code=NOT_LISTED,
        layer=layer,
        message=why,
        actionability=Actionability.PLATFORM if stalled else Actionability.TRANSIENT,
        since=since,
        since_from=None if since is None else SinceFrom.PROCESS,
        in_state_seconds=max(int(lasted.total_seconds()), 0),
        window_seconds=int(window.total_seconds()),
        stalled=stalled,
        pattern=Pattern.NO_TERMINAL_STATE_REPORTED if stalled else None,
    )
