"""The handler that a path finds, and what it gets of it."""

import pytest
from aiohttp.web_response import Response, StreamResponse
from msgspec.structs import replace

from reporter.server.routes import RoutedRequest
from tests.integration.server.served_pages import ALWAYS_OK, exchange, serving


TEMPLATES = ("/a/{name}", "/a/{name}/{rest:.+}", "/dot.js")


async def show(request: RoutedRequest) -> StreamResponse:
    parts = " ".join(f"{name}={value}" for name, value in request.match_info.items())
    return Response(text=f"{request.served_path} {parts}")


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/a/b", "/a/b name=b"),
        ("/a/b?x=/c", "/a/b name=b"),
        ("/a/%62", "/a/b name=b"),
        ("/%61/b", "/a/b name=b"),
        ("/a/b%2Fc", "/a/b%2Fc name=b/c"),
        ("/a/b%252Fc", "/a/b%252Fc name=b%2Fc"),
        ("/a/b/c/d", "/a/b/c%2Fd name=b rest=c/d"),
        ("/a/b//", "/a/b/%2F name=b rest=/"),
        ("/a/%C3%BC", "/a/%C3%BC name=ü"),
        ("/dot.js", "/dot.js "),
        ("/dotxjs", None),
        ("/a/", None),
        ("/a/b/", None),
        ("/a", None),
        ("/A/b", None),
        ("/x/a/b", None),
    ],
)
async def test_a_path_finds_its_template(path: str, answer: str | None):
    async with serving(replace(ALWAYS_OK, page=dict.fromkeys(TEMPLATES, show))) as served:
        # A client would encode the path anew.
        request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        head, _, body = (await exchange(served.health, request.encode())).partition(b"\r\n\r\n")
    status = int(head.split()[1])
    assert (status, body.decode()) == (
        (404, "404: Not Found") if answer is None else (200, answer)
    )
