"""
Create, patch and read our Events, always through core/v1.

Nothing is retried or decided here; every failure is raised as a KubeError.
"""

import logging
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from reporter import PROGRAM_NAME
from reporter.kube import event_format
from reporter.kube.client import MERGE_PATCH, RestClient
from reporter.kube.decoding import decode_response
from reporter.kube.errors import NotFound
from reporter.kube.event_record import EventRecord, PossibleKeysFunc, no_keys
from reporter.kube.lister import list_pages


EVENTS_PATH = f"/api/v1/namespaces/{event_format.EVENT_NAMESPACE}/events"
INVOLVED_KINDS = ("Namespace", "CustomResourceDefinition")
"""
The kinds of objects that our Events in kube-system are about. Those in other namespaces are copies.
"""

PAGE_TIMEOUT = timedelta(seconds=10)

logger = logging.getLogger(__name__)


class EventClient:
    """
    Reads and writes our Events.

    *instance* is the name of our pod.
    """

    def __init__(self, api: RestClient, instance: str) -> None:
        self._api = api
        self._instance = instance

    async def create(self, record: EventRecord) -> None:
        """
        Create the Event. Conflict means that it exists: an earlier write arrived although it failed.
        """
        await self._api.call(
            "POST",
            _events_path(record),
            body=event_format.encode_event(record, instance=self._instance),
            operation=_operation("create", record),
        )

    async def patch(self, record: EventRecord) -> None:
        """
        Patch the Event. NotFound means that it has expired.

        The patch has no resourceVersion, so it never conflicts.
        """
        await self._api.call(
            "PATCH",
            _event_path(record),
            body=event_format.encode_event_patch(record, instance=self._instance),
            content_type=MERGE_PATCH,
            operation=_operation("patch", record),
        )

    async def read(self, record: EventRecord) -> EventRecord | None:
        """
        Read the Event with the name of *record*; None if there is none.

        The name alone identifies subject, reason and episode. So a damaged Event counts as *record*
        with unknown content: the next patch repairs it, while a create would conflict for ever.
        """
        try:
            response = await self._api.call(
                "GET", _event_path(record), operation=_operation("read", record)
            )
        except NotFound:
            return None
        found = event_format.decode_event(response.body, lambda _: (record.key,))
        if isinstance(found, event_format.ForeignEvent):
            return replace(record, message="", content_digest="")
        return found

    async def list(self, possible_keys: PossibleKeysFunc = no_keys) -> tuple[EventRecord, ...]:
        """
        List our Events in kube-system that can be continued.

        They are selected by their involvedObject, because admission may have changed the source.
        The field selector and the pages make the API server read from etcd, so call this rarely.
        """
        found: list[EventRecord] = []
        unclear: list[msgspec.Raw] = []
        foreign: list[event_format.ForeignEvent] = []
        for kind in INVOLVED_KINDS:
            pages = list_pages(
                self._api,
                EVENTS_PATH,
                [("fieldSelector", f"involvedObject.kind={kind}")],
                page_timeout=PAGE_TIMEOUT,
                operation=f"list events {event_format.EVENT_NAMESPACE}",
            )
            async for raw in (raw async for page in pages for raw in page):
                event = event_format.decode_event(raw, possible_keys)
                if isinstance(event, EventRecord):
                    found.append(event)
                else:
                    unclear.append(raw)
        # A Ready is named after the last write about the trouble that it ends.
        episodes = {record.last_timestamp for record in found}
        for raw in unclear:
            event = event_format.decode_event(raw, possible_keys, episodes)
            if isinstance(event, EventRecord):
                found.append(event)
            elif event.has_our_source:
                foreign.append(event)
        if foreign:
            logger.info(
                "ignoring %d Events of this source that cannot be continued, such as %s: %s",
                len(foreign),
                foreign[0].name,
                foreign[0].why,
            )
        return tuple(found)


def _events_path(record: EventRecord) -> str:
    return f"/api/v1/namespaces/{event_format.event_namespace(record)}/events"


def _event_path(record: EventRecord) -> str:
    return f"{_events_path(record)}/{event_format.event_name(record)}"


def _operation(verb: str, record: EventRecord) -> str:
    return f"{verb} event {event_format.event_namespace(record)}/{event_format.event_name(record)}"


# --------------------------------------------------------------------
# List the Warnings that a reporter wrote into a namespace, as people read them.


class _Involved(msgspec.Struct, frozen=True):
    kind: str = ""
    name: str = ""


class Warned(msgspec.Struct, frozen=True, rename="camel"):
    """One Event of type Warning. *last_timestamp*: when it was written last; None if it does not tell."""

    reason: str = ""
    message: str = ""
    last_timestamp: datetime | None = None
    involved_object: _Involved = _Involved()


class _Listed(msgspec.Struct, frozen=True):
    items: list[Warned] = []


_WARNINGS_DECODER = msgspec.json.Decoder(_Listed)


async def list_warnings(api: RestClient, namespace: str) -> list[Warned]:
    """Return the Warnings of our source in a namespace. Raises KubeError."""
    operation = "list events"
    selector = f"source={PROGRAM_NAME},type=Warning"
    answer = await api.call(
        "GET",
        f"/api/v1/namespaces/{namespace}/events",
        query=[("fieldSelector", selector)],
        operation=operation,
    )
    return decode_response(_WARNINGS_DECODER, answer.body, operation, expected="a list").items
