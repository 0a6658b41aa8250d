"""Replay verdicts about one key through the tracked."""

from datetime import timedelta

from reporter.catalogue.entries import HoldDurations
from reporter.evaluation.clocks import NOTHING_TRACKED, Delays
from reporter.evaluation.tracking import advance_clocks, apply_verdicts
from reporter.model.verdicts import Clear
from tests.support.builders import MINUTE, NOON, SECOND, a_key, an_entry


KEY = a_key("clusterThing")
ENTRY = an_entry("clusterThing", holds=HoldDurations())
DELAYS = Delays(grace=60 * SECOND, settle=30 * SECOND)
ANY_LENGTH = (1, 29, 31, 3600, 86400)
"""Seconds for which a key is Unknown, up to LONG_UNKNOWN and beyond."""


class TrackingReplay:
    """Tracked findings of one key, clear a minute before noon. Times are relative to noon."""

    def __init__(self, entry=ENTRY, delays=DELAYS):
        self.rules = {"entry_of": lambda _: entry, "delays": delays}
        self.tracked = apply_verdicts(
            NOTHING_TRACKED, [Clear(KEY)], now=NOON - MINUTE, **self.rules
        )

    def observe(self, at, verdict):
        self.tracked = apply_verdicts(self.tracked, [verdict], now=NOON + at, **self.rules)
        return self

    def advance(self, at):
        self.tracked = advance_clocks(self.tracked, now=NOON + at, **self.rules)
        return self

    @property
    def finding_state(self):
        return self.tracked.finding_states.get(KEY)

    @property
    def past_hold(self):
        return self.finding_state is not None and self.finding_state.past_hold


def seconds(number):
    return timedelta(seconds=number)
