"""A metrics engine that answers instant queries with the series of sources, or as a test says."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.fleet.series import NOON, SeriesSample, SourceSeries, all_clusters


@dataclass
class MetricsEngine:
    """
    *sources*: returns what they report now. *replies*: how to answer instead, by a word of the query.

    *requests*: the form and the headers of each request.
    """

    url: str = ""
    sources: Callable[[], list[SourceSeries]] = list
    replies: dict[str, Callable[[], web.Response | float]] = field(default_factory=dict)
    requests: list[tuple[dict[str, str], dict[str, str]]] = field(default_factory=list)
    time: float = NOON

    @property
    def queries(self) -> list[str]:
        return [form["query"] for form, _ in self.requests]

    async def answer(self, request: web.Request) -> web.Response:
        form = {name: str(text) for name, text in (await request.post()).items()}
        self.requests.append((form, dict(request.headers)))
        for word, reply in self.replies.items():
            if word in form["query"]:
                found = reply()
                if isinstance(found, web.Response):
                    return found
                await asyncio.sleep(found)
        return web.json_response(success(self._samples(form["query"]), self.time))

    def _samples(self, query: str) -> list[SeriesSample]:
        sources = self.sources()
        if "max_over_time(timestamp(" in query:
            return [SeriesSample({"cluster": e.label}, str(self.time)) for e in sources if e.label]
        if 'workload_namespace!=""' in query:
            return [sample for each in sources for sample in each.detail() if each.label in query]
        if "package_info" in query:
            return [sample for each in sources for sample in each.revisions()]
        if "blocking_info" in query:
            return [sample for each in sources for sample in each.trouble()]
        return all_clusters(sources)


def success(samples: list[SeriesSample], time: float = NOON, **more: Any) -> dict[str, Any]:
    """Return a complete answer as Prometheus has it."""
    result = [{"metric": dict(labels), "value": [time, text]} for labels, text in samples]
    return {"status": "success", "data": {"resultType": "vector", "result": result}, **more}


def body(value: Any, status: int = 200, **headers: str) -> Callable[[], web.Response]:
    """Return a reply with this JSON, or this text."""
    text = value if isinstance(value, str) else json.dumps(value)
    kind = "text/html" if text.startswith("<") else "application/json"
    return lambda: web.Response(text=text, status=status, content_type=kind, headers=headers)


@asynccontextmanager
async def running_engine(tls: ssl.SSLContext | None = None) -> AsyncIterator[MetricsEngine]:
    engine = MetricsEngine()
    app = web.Application()
    app.add_routes([web.post("/tenant/api/v1/query", engine.answer)])
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    port = runner.addresses[0][1]
    engine.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}/tenant"
    try:
        yield engine
    finally:
        await runner.cleanup()
