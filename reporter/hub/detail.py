"""The namespaces of one cluster, asked for when somebody wants to see them: one more query."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial

from aiohttp import hdrs, web

from reporter.hub.asking import Engine
from reporter.hub.fleet_v1 import FleetRequest, find_missing, find_unavailable
from reporter.hub.keeper import FleetKeeper
from reporter.hub.namespace_results import gather_namespaces
from reporter.hub.pages import CLUSTER_PATH
from reporter.hub.queries import SERIES_LIMIT, of_cluster
from reporter.hub.query_client import QueryFailed, decode
from reporter.model.fleet_status import FLEET_SCOPE, ClusterDetail, FleetNamespace
from reporter.model.status_document import SCHEMA_VERSION, StatusError
from reporter.server.responses import JSON
from reporter.server.served_document import NO_CACHE
from reporter.server.status_v1 import encode


TIME_LIMIT = timedelta(seconds=10)


class ClusterDetails:
    """Asks for one cluster at a time, however many requests there are."""

    def __init__(self, engine: Engine, keeper: FleetKeeper, *, label: str) -> None:
        self._engine, self._keeper, self._label = engine, keeper, label
        self._turn = asyncio.Lock()

    def routes(self) -> Mapping[str, Callable[[web.Request], Awaitable[web.StreamResponse]]]:
        return {f"{CLUSTER_PATH}/namespaces": self.show}

    async def show(self, request: web.Request) -> web.StreamResponse:
        view, name = self._keeper.view(), request.match_info["cluster"]
        unavailable = find_unavailable(view)
        if unavailable is not None:
            return _response(503, unavailable)
        missing = find_missing(view, FleetRequest(name))
        entry = view.cluster(name)
        if missing is not None or entry is None:
            return _response(404, missing or _error(view.why))
        record = view.fleet.clusters[name]
        if record.content.code is not None:
            why = f"the cluster is Unknown ({record.content.code}), and so are its namespaces"
            return _response(503, _error(why))
        if not record.source:
            return _response(503, _error("no source of the cluster counts at the moment"))
        try:
            namespaces = await self._ask(record.label, record.source)
        except QueryFailed as err:
            return _response(503, _error(f"no complete answer ({err.result}): {err}"))
        detail = ClusterDetail(
            schema=SCHEMA_VERSION, scope=FLEET_SCOPE, cluster=entry, namespaces=namespaces
        )
        return _response(200, detail)

    async def _ask(self, label: str, source: str) -> tuple[FleetNamespace, ...]:
        query = of_cluster(self._label, label)
        async with self._turn:
            body = await self._engine.ask(query, time_limit=TIME_LIMIT, limit=SERIES_LIMIT)
        found = await asyncio.to_thread(partial(decode, body, limit=SERIES_LIMIT))
        return await asyncio.to_thread(gather_namespaces, found.samples(), source)


def _error(text: str) -> StatusError:
    return StatusError(schema=SCHEMA_VERSION, error=text, remedy="Ask again later.")


def _response(status: int, content: StatusError | ClusterDetail) -> web.Response:
    headers = {hdrs.CONTENT_TYPE: JSON, hdrs.CACHE_CONTROL: NO_CACHE}
    return web.Response(status=status, body=encode(content), headers=headers)
