"""Replay verdicts about one key through the gate."""

from datetime import timedelta

from reporter.catalogue.entries import HoldDurations
from reporter.evaluation.clocks import EMPTY_GATE, Delays
from reporter.evaluation.tracking import advance_clocks, apply_verdicts
from reporter.model.verdicts import Clear
from tests.support.builders import MINUTE, NOON, SECOND, a_key, an_entry


KEY = a_key("clusterThing")
ENTRY = an_entry("clusterThing", holds=HoldDurations())
DELAYS = Delays(grace=60 * SECOND, settle=30 * SECOND)
ANY_LENGTH = (1, 29, 31, 3600, 86400)
"""Seconds for which a key is Unknown, up to LONG_UNKNOWN and beyond."""


class GateReplay:
    """The gate with one key, which was clear a minute before noon. Times are relative to noon."""

    def __init__(self, entry=ENTRY, delays=DELAYS):
        self.rules = {"entry_of": lambda _: entry, "delays": delays}
        self.gate = apply_verdicts(EMPTY_GATE, [Clear(KEY)], now=NOON - MINUTE, **self.rules)

    def observe(self, at, verdict):
        self.gate = apply_verdicts(self.gate, [verdict], now=NOON + at, **self.rules)
        return self

    def advance(self, at):
        self.gate = advance_clocks(self.gate, now=NOON + at, **self.rules)
        return self

    @property
    def finding_state(self):
        return self.gate.finding_states.get(KEY)

    @property
    def past_hold(self):
        return self.finding_state is not None and self.finding_state.past_hold


def seconds(number):
    return timedelta(seconds=number)
