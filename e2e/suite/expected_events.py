"""The Events that tests expect: queries, and the sequence of Events of one outage."""

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from e2e.controlplane import WaitTimeout, until, until_quiet
from e2e.suite.cluster import ClusterUnderTest
from e2e.support import events
from e2e.support.events import Event


@dataclass(frozen=True)
class EventQuery:
    """
    A query of the Events written after version *since*.

    *involved* is the name of the involved object; all if empty.
    """

    cluster: ClusterUnderTest
    since: int
    involved: str = ""

    def all(self, reason: str = "") -> list[Event]:
        """Return the Events in the order of their last writes."""
        events_found = events.reporter_events(self.cluster.client, reason, involved=self.involved)
        return [event for event in events_found if int(event.version) > self.since]

    def newest(self, reason: str) -> Event | None:
        """
        Return the Event that was written last, by the API server's order: its times are whole seconds.
        """
        return next(reversed(self.all(reason)), None)

    def wait_for(self, reason: str, message_contains: str = "", count: int = 1) -> Event:
        """Wait for an Event. Raise WaitTimeout with the Events that came instead."""

        def read() -> Event | None:
            found = self.newest(reason)
            if found is None or message_contains not in found.message or found.count < count:
                return None
            return found

        try:
            what = f"Event {reason} of {self.involved!r} with {message_contains!r}, count {count}"
            return until(read, within=self.cluster.timeouts.announce_timeout, what=what)
        except WaitTimeout as err:
            lines = [f"  {e.type} {e.reason} x{e.count}: {e.message}" for e in self.all()]
            seen = "\n".join(lines) or "  none"
            raise WaitTimeout(f"{err}\nEvents that came:\n{seen}") from None

    def wait_quiet(self) -> list[Event]:
        """
        Wait until a quiet period passes without a write, and return the Events, as in *all*.

        A heartbeat would come within it; one may still be on its way when this is called.
        """
        timeouts = self.cluster.timeouts
        what = f"no Event of {self.involved!r} is written"
        return until_quiet(
            self.all, quiet=timeouts.quiet_period, within=timeouts.announce_timeout, what=what
        )


def events_from_now(cluster: ClusterUnderTest, involved: str = "") -> EventQuery:
    version = cluster.client.get(events.PATH, limit="1")["metadata"]["resourceVersion"]
    return EventQuery(cluster, int(version), involved)


@dataclass(frozen=True)
class ExpectedOutage:
    """
    The Events of one outage.

    A Warning with *reason* about *involved* contains *message_contains*. Its end is announced with
    *ready_reason* about *ready_involved*; with neither if that is empty.
    """

    reason: str
    involved: str
    message_contains: str
    ready_reason: str
    ready_involved: str = ""
    kind: str = "Namespace"

    def run(self, cluster: ClusterUnderTest, breakage: AbstractContextManager[object]) -> Event:
        """
        Check the Events of a breakage: a Warning, its heartbeat, the Ready, and none after that.

        Return the Warning.
        """
        query = events_from_now(cluster, self.involved)
        with breakage:
            first = query.wait_for(self.reason, self.message_contains)
            again = query.wait_for(self.reason, self.message_contains, count=first.count + 1)
        assert (first.type, first.involved) == ("Warning", (self.kind, self.involved))
        assert (again.uid, again.first) == (first.uid, first.first)
        assert _observed_at(again) > _observed_at(first)
        self._check_end(
            cluster, replace(query, involved=self.ready_involved or self.involved), again
        )
        assert [event.uid for event in query.all(self.reason)] == [first.uid]
        return again

    def _check_end(self, cluster: ClusterUnderTest, query: EventQuery, warning: Event) -> None:
        if self.ready_reason:
            ready = query.wait_for(self.ready_reason)
            assert (ready.type, ready.count) == ("Normal", 1)
            assert ready.last >= warning.last
            later = events_from_now(cluster, self.involved)
            # An active heartbeat would repeat the Event within the quiet period.
            time.sleep(cluster.timeouts.quiet_period)
            assert later.all() == []
            assert len(query.all(self.ready_reason)) == 1
        else:
            query.wait_quiet()


def _observed_at(event: Event) -> str:
    """Return the time of the last write in microseconds; the first one has no series."""
    series = event.raw.get("series")
    return str(series["lastObservedTime"] if series else event.raw["eventTime"])
