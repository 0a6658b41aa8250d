"""
Our Events on the API server: created, said again, read back. Always through core/v1.

No call is repeated here and nothing is decided: the closed set of errors goes to the caller.
"""

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import msgspec

from reporter.kube.client import Api
from reporter.kube.decoding import decoded
from reporter.kube.errors import NotFound, Unreachable
from reporter.kube.event_format import (
    COMPONENT,
    NAMESPACE,
    Foreign,
    decode_event,
    encode_event,
    encode_patch,
)
from reporter.kube.event_names import event_name
from reporter.model.events import EventRecord


PATH = f"/api/v1/namespaces/{NAMESPACE}/events"
PAGE = 500
MERGE_PATCH = "application/merge-patch+json"

logger = logging.getLogger(__name__)


class EventBook:
    """
    *instance* is the name of the pod that speaks.
    """

    def __init__(self, api: Api, instance: str) -> None:
        self._api = api
        self._instance = instance

    async def create(self, record: EventRecord) -> None:
        """
        Conflict means that it is there: a write that arrived although it seemed to fail.
        """
        body = _json(encode_event(record, instance=self._instance))
        await self._api.call("POST", PATH, body=body, doing=_doing("create", record))

    async def patch(self, record: EventRecord) -> None:
        """
        NotFound means that it has expired. Without a resourceVersion it never conflicts.
        """
        await self._api.call(
            "PATCH",
            _path(record),
            body=_json(encode_patch(record, instance=self._instance)),
            content_type=MERGE_PATCH,
            doing=_doing("patch", record),
        )

    async def read(self, record: EventRecord) -> EventRecord | None:
        """
        What stands there under the name of *record*; None if nothing does.

        The name alone says what it is about, so a damaged one is taken for *record* with an
        unknown told: the next patch mends it, where another create would conflict for ever.
        """
        try:
            answer = await self._api.call("GET", _path(record), doing=_doing("read", record))
        except NotFound:
            return None
        found = decode_event(answer.body)
        return replace(record, told="") if isinstance(found, Foreign) else found

    async def list(self) -> tuple[EventRecord, ...]:
        """
        All Events of ours that can be continued. Read from etcd, so: seldom.
        """
        found: list[EventRecord] = []
        passed_over: list[Foreign] = []
        async for raw in self._raw_events():
            event = decode_event(raw)
            if isinstance(event, Foreign):
                passed_over.append(event)
            else:
                found.append(event)
        if passed_over:
            _log_passed_over(passed_over)
        return tuple(found)

    async def _raw_events(self) -> AsyncIterator[msgspec.Raw]:
        token = ""
        while True:
            query = [("limit", str(PAGE)), ("fieldSelector", f"source={COMPONENT}")]
            answer = await self._api.call(
                "GET",
                PATH,
                query=[*query, ("continue", token)] if token else query,
                doing=f"list events {NAMESPACE}",
            )
            page = _page(answer.body)
            for raw in page.items or ():
                yield raw
            token = page.metadata.continue_ or ""
            if not token:
                return


class _ListMetadata(msgspec.Struct, rename={"continue_": "continue"}):
    continue_: str | None = None


class _Page(msgspec.Struct):
    metadata: _ListMetadata
    items: list[msgspec.Raw] | None = None


_PAGES = msgspec.json.Decoder(_Page)


def _page(body: bytes) -> _Page:
    try:
        return decoded(_PAGES, body)
    except msgspec.DecodeError as err:
        what = f"not a list of Events: {err}"
        raise Unreachable(f"list events {NAMESPACE}", status=200, message=what) from err


def _path(record: EventRecord) -> str:
    return f"{PATH}/{event_name(record)}"


def _doing(verb: str, record: EventRecord) -> str:
    return f"{verb} event {NAMESPACE}/{event_name(record)}"


def _json(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()


def _log_passed_over(events: list[Foreign]) -> None:
    logger.info(
        "%d Events of this source are not continued, such as %s: %s",
        len(events),
        events[0].name,
        events[0].why,
    )
