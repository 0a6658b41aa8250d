"""List the Warnings that a reporter wrote into a namespace, as people read them."""

from datetime import datetime

import msgspec
from msgspec import Struct

from reporter import PROGRAM_NAME
from reporter.kube.client import RestClient
from reporter.kube.decoding import decode_response


class _Involved(Struct, frozen=True):
    kind: str = ""
    name: str = ""


class Warned(Struct, frozen=True, rename="camel"):
    """One Event of type Warning. *last_timestamp*: when it was written last; None if it does not tell."""

    reason: str = ""
    message: str = ""
    last_timestamp: datetime | None = None
    involved_object: _Involved = _Involved()


class _Listed(Struct, frozen=True):
    items: list[Warned] = []


_DECODER = msgspec.json.Decoder(_Listed)


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
    return decode_response(_DECODER, answer.body, operation, expected="a list").items
