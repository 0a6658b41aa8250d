"""Replay the second look at a store, at times that the test sets."""

from datetime import timedelta

from reporter.controller.reread_contents import Cache, Reading, WatchProgress
from reporter.controller.reread_schedule import (
    RereadState,
    begin_read,
    finish_read,
    next_read,
    track,
)
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.verdicts import ObjectRef
from tests.support.builders import NOON, a_deployment, a_store


HEALED = a_deployment("bbr", replicas=1)


def ref(name, resource="deployments.apps", namespace="kaito-system") -> ObjectRef:
    return ObjectRef(resource, namespace, name)


BBR, POD = ref("bbr"), ref("pod", "pods")


def secs(number: float) -> timedelta:
    return timedelta(seconds=number)


class Looking:
    """The state of a second look at a store, at a time that the test sets."""

    def __init__(self, *objects) -> None:
        self.store, self.state, self.now = a_store(*objects), RereadState(), NOON
        self.version, self.watch = "200", WatchProgress("100", NOON)

    @property
    def cache(self) -> Cache:
        return Cache(DEFAULT_KINDS, self.store.snapshot())

    def track(self, *refs: ObjectRef, after: float = 0) -> None:
        self.now += secs(after)
        self.state = track(self.state, refs, self.cache, now=self.now)

    @property
    def next(self) -> tuple[str, float] | None:
        """The name of the next object, and the seconds until the look."""
        look = next_read(self.state, now=self.now)
        return None if look is None else (look.ref.name, (look.at - self.now).total_seconds())

    def look(self, read, of: ObjectRef = BBR) -> bool:
        """
        Make the next look, which finds *read*. Returns whether the kind has to be listed anew.
        """
        look = next_read(self.state, now=self.now)
        assert look is not None
        assert look.ref == of
        self.now = look.at
        self.state = begin_read(self.state, look.ref, now=self.now)
        kind = self.cache.kind_of(look.ref)
        assert kind is not None
        cached = self.cache.content(kind, look.ref)
        self.state, missed = finish_read(
            self.state, look.ref, Reading(read, self.version), cached, self.watch, now=self.now
        )
        return missed
