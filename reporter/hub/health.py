"""The answers of /livez and /readyz: why not, or an empty text."""

from datetime import timedelta

from reporter.hub.keeper import FleetKeeper
from reporter.model.fleet_status import QueryResult
from reporter.process.clock import Clock


STALLED_INTERVALS = 5
SLACK = timedelta(minutes=1)


class HubHealth:
    """An engine that does not answer makes no hub unhealthy: to restart it would help nobody."""

    def __init__(self, keeper: FleetKeeper, clock: Clock, *, interval: timedelta) -> None:
        self._keeper, self._clock = keeper, clock
        self._limit = STALLED_INTERVALS * interval + SLACK

    def why_not_live(self) -> str:
        if self._keeper.not_leading:
            return ""
        stalled = timedelta(seconds=self._clock.seconds() - self._keeper.last_tick)
        if stalled <= self._limit:
            return ""
        return f"no round was begun for {stalled.total_seconds():.0f}s"

    def why_not_ready(self) -> str:
        keeper = self._keeper
        if keeper.not_leading or keeper.why_not_listed or keeper.finished_rounds:
            return ""
        return "no round was finished yet"

    def describe_limits(self) -> str:
        """Return what a ready process does not know or do, with why, a line for each."""
        view = self._keeper.view()
        lines = [f"unknown: {view.why}"] if view.why else []
        lines += [
            f"not answered: {each.query}: {each.why}"
            for each in view.queries
            if each.result is not QueryResult.COMPLETE
        ]
        return "\n".join(lines)
