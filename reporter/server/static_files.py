"""
Serve the status page for people: an HTML file, its style and its scripts.

They are files of this package, read once. The page reads ``/status/v1`` like any other client.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from aiohttp import ETag, hdrs
from aiohttp.web_response import Response
from msgspec import Struct

from reporter.server.routes import Handler, RoutedRequest
from reporter.server.status_v1 import MAX_WAIT_SECONDS


FOLDER = Path(__file__).parent / "page"
INDEX = "index.html"

CONTENT_TYPES: Mapping[str, str] = MappingProxyType(
    {
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".json": "application/json; charset=utf-8",
        ".svg": "image/svg+xml",
    }
)

_DIRECTIVES = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    # A browser that knows Trusted Types refuses to make HTML of a text.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
CONTENT_SECURITY_POLICY = "; ".join(_DIRECTIVES)

HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        # Ask each time: after an upgrade no old script may read the new document.
        hdrs.CACHE_CONTROL: "no-cache",
    }
)


MIN_STALE_AFTER = timedelta(seconds=2 * MAX_WAIT_SECONDS)
"""
While nothing changes, the page reads the time of the last pass only as often as its requests end.
"""


class StaticFile(Struct, frozen=True):
    """A file as it is sent, with a tag that changes with its content."""

    body: bytes
    content_type: str
    etag: ETag

    @classmethod
    def of(cls, name: str, body: bytes) -> "StaticFile":
        """
        Return the file for *body*, with the type of content that the suffix of *name* has.

        Raises KeyError for a suffix that is not in CONTENT_TYPES. The tag is made from a SHA-256 of the
        content.
        """
        tag = ETag(hashlib.sha256(body).hexdigest()[:32])
        return cls(body, CONTENT_TYPES[PurePosixPath(name).suffix], tag)

    async def show(self, request: RoutedRequest) -> Response:
        """
        Answer with the file under its strict Content-Security-Policy.

        304 without a body if the browser's If-None-Match names the same content.
        """
        known = request.if_none_match or ()
        headers = {**HEADERS, hdrs.CONTENT_TYPE: self.content_type}
        if any(each.value in {"*", self.etag.value} for each in known):
            response = Response(status=304, headers=HEADERS)
        else:
            response = Response(body=self.body, headers=headers)
        response.etag = self.etag
        return response


def page_routes(
    stale_after: timedelta,
) -> Mapping[str, Handler]:
    """
    Return the handlers of the page by path.

    *stale_after*: the time without a pass after which the page calls its content stale, though never
    before MIN_STALE_AFTER.
    """
    seconds = int(max(stale_after, MIN_STALE_AFTER).total_seconds())
    settings = json.dumps({"staleAfterSeconds": seconds}).encode()
    found = {name: StaticFile.of(name, body) for name, body in _read_files(FOLDER)}
    found["settings.json"] = StaticFile.of("settings.json", settings + b"\n")
    index = found.pop(INDEX)
    return {"/": index.show, **{f"/page/{name}": each.show for name, each in found.items()}}


def _read_files(folder: Path, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        name = prefix + each.name
        if each.is_dir():
            yield from _read_files(each, f"{name}/")
        elif PurePosixPath(name).suffix in CONTENT_TYPES:
            yield name, each.read_bytes()
