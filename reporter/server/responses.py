"""Responses in JSON."""

from collections.abc import Mapping

from aiohttp import hdrs
from aiohttp.web_response import Response

from reporter.model.status_document import StatusError
from reporter.server.status_v1 import encode


JSON = "application/json; charset=utf-8"


def error_response(
    status: int, error: StatusError, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with the error as its JSON body: what is wrong, and what to do about it."""
    return Response(
        status=status, body=encode(error), headers={hdrs.CONTENT_TYPE: JSON, **(headers or {})}
    )
