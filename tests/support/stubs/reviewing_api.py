"""A small API server that reviews tokens and what their users may read."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.support.stubs.api_servers import a_json_response


Json = dict[str, Any]


class ReviewingApi:
    """
    *users*: by token. *paths*: that each user may get; one that ends with * covers what is below it.

    *failure*: answered instead of every review, if set. *asked*: each review that came.
    """

    def __init__(self, users: Mapping[str, Json], paths: Mapping[str, tuple[str, ...]]) -> None:
        self.users, self.paths = dict(users), dict(paths)
        self.failure: web.Response | None = None
        self.hangs = False
        self.asked: list[tuple[str, Json]] = []

    def count(self, resource: str) -> int:
        return sum(resource in path for path, _ in self.asked)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        spec = json.loads(await request.text())["spec"]
        self.asked.append((request.path, spec))
        if self.hangs:
            await asyncio.Event().wait()
        if self.failure is not None:
            failure = self.failure
            return web.Response(status=failure.status, body=failure.body, headers=failure.headers)
        if request.path.endswith("/tokenreviews"):
            user = self.users.get(spec["token"])
            found = {"authenticated": user is not None, **({"user": user} if user else {})}
            return a_json_response({"status": found}, 201)
        attributes = spec["nonResourceAttributes"]
        rules = self.paths.get(spec["user"], ()) if attributes["verb"] == "get" else ()
        return a_json_response({"status": {"allowed": _covers(rules, attributes["path"])}}, 201)


def _covers(rules: tuple[str, ...], path: str) -> bool:
    return any(
        path.startswith(rule[:-1]) if rule.endswith("*") else path == rule for rule in rules
    )
