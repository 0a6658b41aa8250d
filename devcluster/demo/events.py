"""The watch of the reporter's Events that the demo prints."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from reporter import PROGRAM_NAME
from reporter.kube.client import RestClient
from reporter.kube.errors import Expired, KubeError


EVENTS_PATH = "/api/v1/namespaces/kube-system/events"
SELECTOR = f"source={PROGRAM_NAME}"
WATCH_IDLE_TIMEOUT = timedelta(minutes=5)
RETRY_SECONDS = 1.0
"""Seconds to wait after a watch broke."""


@dataclass(frozen=True, slots=True)
class SeenEvent:
    """An Event as kubectl prints it; *object* is kind/name."""

    type: str
    reason: str
    object: str
    message: str
    last: datetime
    count: int


class _DemoEventMetadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _DemoInvolvedObject(msgspec.Struct):
    kind: str = ""
    name: str = ""


class _DemoEvent(msgspec.Struct, rename="camel"):
    metadata: _DemoEventMetadata
    involved_object: _DemoInvolvedObject = msgspec.field(default_factory=_DemoInvolvedObject)
    type: str = ""
    reason: str = ""
    message: str = ""
    last_timestamp: datetime | None = None
    count: int = 1


class _DemoWatchEvent(msgspec.Struct):
    type: str
    object: _DemoEvent


_WATCH_EVENT_DECODER = msgspec.json.Decoder(_DemoWatchEvent)


async def watch_events(api: RestClient, seen: "asyncio.Queue[SeenEvent]") -> None:
    """Put every Event that is created or updated into *seen* until cancelled."""
    version = ""
    while True:
        try:
            async for event in _stream_events(api, version):
                version = event.metadata.resource_version
                if event.reason:
                    seen.put_nowait(_to_seen_event(event))
        except Expired:
            version = ""
        except KubeError:
            await asyncio.sleep(RETRY_SECONDS)


async def _stream_events(api: RestClient, version: str) -> AsyncIterator[_DemoEvent]:
    """Yield the Events written after *version*. A bookmark has a resourceVersion and no reason."""
    query = [
        ("watch", "1"),
        ("allowWatchBookmarks", "true"),
        ("fieldSelector", SELECTOR),
        ("resourceVersion", version),
    ]
    async with api.open_watch(
        EVENTS_PATH, query, idle_timeout=WATCH_IDLE_TIMEOUT, operation="watch events"
    ) as lines:
        async for line in lines:
            change = _WATCH_EVENT_DECODER.decode(line)
            if change.type == "ERROR":
                raise Expired("watch events")
            if change.type != "DELETED":
                yield change.object


def _to_seen_event(event: _DemoEvent) -> SeenEvent:
    involved = event.involved_object
    return SeenEvent(
        type=event.type,
        reason=event.reason,
        object=f"{involved.kind.lower()}/{involved.name}",
        message=event.message,
        last=event.last_timestamp or datetime.fromtimestamp(0, UTC),
        count=event.count,
    )
