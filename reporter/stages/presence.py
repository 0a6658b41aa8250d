"""
Whether a resource is served, from repeated discovery.

One answer that lacks a resource proves nothing: it may be that of a server just starting, or one
whose aggregated APIs fail. A loss counts once a second answer, at least ten seconds later, agrees.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from reporter.model.observations import Discovery, Presence


CONFIRMED_AFTER = timedelta(seconds=10)


def observe(before: Presence, answer: Discovery, crd: str, *, now: datetime) -> Presence:
    """
    Take one answer; *crd* is ``resource.group``.
    """
    if crd.partition(".")[2] in answer.stale:
        return replace(before, blind="discovery of its API group failed")
    versions = answer.served.get(crd, ())
    if before.versions is not None and before.versions == versions:
        return replace(before, doubted=None, blind="")
    if versions and set(versions) >= set(before.versions or ()):
        return Presence(versions, since=now, blind="", ever=before.ever | set(versions))
    if before.doubted is None:
        return replace(before, doubted=now, blind="")
    if now - before.doubted < CONFIRMED_AFTER:
        return replace(before, blind="")
    return Presence(versions, since=before.doubted, blind="", ever=before.ever | set(versions))


def unanswered(before: Presence, why: str) -> Presence:
    """
    Discovery as a whole failed.
    """
    return replace(before, blind=why)
