"""
The reporter's Events as a user reads them: a watch over HTTP.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from reporter.kube.client import Api
from reporter.kube.errors import Expired, KubeError


PATH = "/api/v1/namespaces/kube-system/events"
SELECTOR = "source=productionstack-status-reporter"
SILENCE = timedelta(minutes=5)
AGAIN = 1.0
"""
Seconds until the next try after a watch that broke.
"""


@dataclass(frozen=True, slots=True)
class SeenEvent:
    """
    *object* as kubectl writes it: kind/name.
    """

    type: str
    reason: str
    object: str
    message: str
    last: datetime
    count: int


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Involved(msgspec.Struct):
    kind: str = ""
    name: str = ""


class _Event(msgspec.Struct, rename="camel"):
    metadata: _Metadata
    involved_object: _Involved = msgspec.field(default_factory=_Involved)
    type: str = ""
    reason: str = ""
    message: str = ""
    last_timestamp: datetime | None = None
    count: int = 1


class _Change(msgspec.Struct):
    type: str
    object: _Event


_CHANGES = msgspec.json.Decoder(_Change)


async def watch(api: Api, found: "asyncio.Queue[SeenEvent]") -> None:
    """
    Put every Event that is written, or written again, into *found*, until cancelled.
    """
    version = ""
    while True:
        try:
            async for event in _changes(api, version):
                version = event.metadata.resource_version
                if event.reason:
                    found.put_nowait(_seen(event))
        except Expired:
            version = ""
        except KubeError:
            await asyncio.sleep(AGAIN)


async def _changes(api: Api, version: str) -> AsyncIterator[_Event]:
    """
    What was written after *version*; a bookmark has nothing but a version.
    """
    query = [
        ("watch", "1"),
        ("allowWatchBookmarks", "true"),
        ("fieldSelector", SELECTOR),
        ("resourceVersion", version),
    ]
    async with api.stream(PATH, query, silence=SILENCE, doing="watch events") as lines:
        async for line in lines:
            change = _CHANGES.decode(line)
            if change.type == "ERROR":
                raise Expired("watch events")
            if change.type != "DELETED":
                yield change.object


def _seen(event: _Event) -> SeenEvent:
    about = event.involved_object
    return SeenEvent(
        type=event.type,
        reason=event.reason,
        object=f"{about.kind.lower()}/{about.name}",
        message=event.message,
        last=event.last_timestamp or datetime.fromtimestamp(0, UTC),
        count=event.count,
    )
