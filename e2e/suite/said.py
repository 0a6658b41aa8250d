"""
Events as users' tools read them, and the way of an outage from its Warning to silence.
"""

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from e2e import events
from e2e.controlplane import NotWithin, until
from e2e.events import Event
from e2e.suite.cluster import Cluster


@dataclass(frozen=True)
class Said:
    """
    From now on. *involved*: the name of the object that the Events are of; all if empty.
    """

    cluster: Cluster
    since: int
    involved: str = ""

    def all(self, reason: str = "") -> list[Event]:
        """
        In the order of their last writes.
        """
        found = events.ours(self.cluster.client, reason, involved=self.involved)
        return [each for each in found if int(each.version) > self.since]

    def newest(self, reason: str) -> Event | None:
        found = self.all(reason)
        return max(found, key=lambda each: each.last) if found else None

    def until(self, reason: str, saying: str = "", count: int = 1) -> Event:
        """
        Raises NotWithin with all that was said instead.
        """

        def read() -> Event | None:
            found = self.newest(reason)
            right = found is not None and saying in found.message and found.count >= count
            return found if right else None

        try:
            what = f"Event {reason} of {self.involved!r} saying {saying!r}, count {count}"
            return until(read, within=self.cluster.patience.within, what=what)
        except NotWithin as err:
            lines = [f"  {e.type} {e.reason} x{e.count}: {e.message}" for e in self.all()]
            told = "\n".join(lines) or "  nothing"
            raise NotWithin(f"{err}\nwhat was said:\n{told}") from None


def from_now_on(cluster: Cluster, involved: str = "") -> Said:
    version = cluster.client.get(events.PATH, limit="1")["metadata"]["resourceVersion"]
    return Said(cluster, int(version), involved)


@dataclass(frozen=True)
class Outage:
    """
    What is said of it, and what *over* it; nothing, where that is empty. *ready*: the object that
    the Ready is of.
    """

    reason: str
    involved: str
    saying: str
    over: str
    ready: str = ""
    kind: str = "Namespace"

    def lived(self, cluster: Cluster, trouble: AbstractContextManager[object]) -> Event:
        """
        Told, repeated while it lasts, over, and nothing newer after that. Returns its Warning.
        """
        begin = from_now_on(cluster, self.involved)
        with trouble:
            first = begin.until(self.reason, self.saying)
            again = begin.until(self.reason, self.saying, count=first.count + 1)
        assert (first.type, first.involved) == ("Warning", (self.kind, self.involved))
        assert (again.uid, again.first) == (first.uid, first.first)
        assert again.last > first.last
        self._over(cluster, replace(begin, involved=self.ready or self.involved), again)
        assert [each.uid for each in begin.all(self.reason)] == [first.uid]
        return again

    def _over(self, cluster: Cluster, begin: Said, warning: Event) -> None:
        if self.over:
            ready = begin.until(self.over)
            assert (ready.type, ready.count) == ("Normal", 1)
            assert ready.last >= warning.last
        else:
            time.sleep(cluster.patience.settle)
        silence = from_now_on(cluster, self.involved)
        time.sleep(cluster.patience.quiet)  # by then a heartbeat not called off would have come
        assert silence.all() == []
        assert len(begin.all(self.over)) == 1 or not self.over
