"""
Events as users' tools read them, and the way of an outage from its Warning to silence.
"""

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from e2e.controlplane import WaitTimeout, until
from e2e.suite.cluster import ClusterUnderTest
from e2e.support import events
from e2e.support.events import Event


@dataclass(frozen=True)
class EventQuery:
    """
    From now on. *involved*: the name of the object that the Events are of; all if empty.
    """

    cluster: ClusterUnderTest
    since: int
    involved: str = ""

    def all(self, reason: str = "") -> list[Event]:
        """
        In the order of their last writes.
        """
        found = events.reporter_events(self.cluster.client, reason, involved=self.involved)
        return [each for each in found if int(each.version) > self.since]

    def newest(self, reason: str) -> Event | None:
        found = self.all(reason)
        return max(found, key=lambda each: each.last) if found else None

    def wait_for(self, reason: str, saying: str = "", count: int = 1) -> Event:
        """
        Raises NotWithin with all that was said instead.
        """

        def read() -> Event | None:
            found = self.newest(reason)
            right = found is not None and saying in found.message and found.count >= count
            return found if right else None

        try:
            what = f"Event {reason} of {self.involved!r} saying {saying!r}, count {count}"
            return until(read, within=self.cluster.timeouts.announce_timeout, what=what)
        except WaitTimeout as err:
            lines = [f"  {e.type} {e.reason} x{e.count}: {e.message}" for e in self.all()]
            told = "\n".join(lines) or "  nothing"
            raise WaitTimeout(f"{err}\nwhat was said:\n{told}") from None


def events_from_now(cluster: ClusterUnderTest, involved: str = "") -> EventQuery:
    version = cluster.client.get(events.PATH, limit="1")["metadata"]["resourceVersion"]
    return EventQuery(cluster, int(version), involved)


@dataclass(frozen=True)
class ExpectedOutage:
    """
    What is said of it, and what *over* it; nothing, where that is empty. *ready*: the object that
    the Ready is of.
    """

    reason: str
    involved: str
    message_contains: str
    ready_reason: str
    ready_involved: str = ""
    kind: str = "Namespace"

    def run(self, cluster: ClusterUnderTest, trouble: AbstractContextManager[object]) -> Event:
        """
        Told, repeated while it lasts, over, and nothing newer after that. Returns its Warning.
        """
        begin = events_from_now(cluster, self.involved)
        with trouble:
            first = begin.wait_for(self.reason, self.message_contains)
            again = begin.wait_for(self.reason, self.message_contains, count=first.count + 1)
        assert (first.type, first.involved) == ("Warning", (self.kind, self.involved))
        assert (again.uid, again.first) == (first.uid, first.first)
        assert again.last > first.last
        self._over(cluster, replace(begin, involved=self.ready_involved or self.involved), again)
        assert [each.uid for each in begin.all(self.reason)] == [first.uid]
        return again

    def _over(self, cluster: ClusterUnderTest, begin: EventQuery, warning: Event) -> None:
        if self.ready_reason:
            ready = begin.wait_for(self.ready_reason)
            assert (ready.type, ready.count) == ("Normal", 1)
            assert ready.last >= warning.last
        else:
            time.sleep(cluster.timeouts.settle)
        silence = events_from_now(cluster, self.involved)
        time.sleep(
            cluster.timeouts.quiet_period
        )  # by then a heartbeat not called off would have come
        assert silence.all() == []
        assert len(begin.all(self.ready_reason)) == 1 or not self.ready_reason
