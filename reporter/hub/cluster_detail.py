"""The namespaces of one cluster, asked for when somebody wants to see them: one more query."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

from aiohttp import hdrs
from aiohttp.web_response import Response, StreamResponse

from reporter.hub import pages
from reporter.hub.fleet_cache import FleetCache
from reporter.hub.queries import SERIES_LIMIT, of_cluster
from reporter.hub.query_client import QueryClient, QueryFailed, read
from reporter.hub.query_results import gather_namespaces
from reporter.model.fleet_status import FLEET_SCOPE, ClusterDetail, FleetNamespace
from reporter.model.status_document import SCHEMA_VERSION, StatusError
from reporter.server.responses import JSON, error_response
from reporter.server.routes import Handler, RoutedRequest
from reporter.server.served_document import NO_CACHE
from reporter.server.status_v1 import encode


TIME_LIMIT = timedelta(seconds=10)
UNCACHED: Mapping[str, str] = {hdrs.CACHE_CONTROL: NO_CACHE}


class ClusterDetails:
    """
    The handler that shows the namespaces of one cluster.

    One query is sent to the engine at a time, however many requests wait. *label*: the name of the label
    by which series tell their cluster.
    """

    def __init__(self, client: QueryClient, cache: FleetCache, *, label: str) -> None:
        self._client, self._cache, self._label = client, cache, label
        self._turn = asyncio.Lock()

    def routes(self) -> Mapping[str, Handler]:
        """
        Return the handler by path, for the server of the hub: /status/v1/clusters/{cluster}/namespaces.
        """
        return {f"{pages.CLUSTER_PATH}/namespaces": self.show}

    async def show(self, request: RoutedRequest) -> StreamResponse:
        """
        Answer with one cluster and all its workload namespaces, by a query to the metrics engine.

        404 for a cluster that is not in the fleet. 503 while this replica does not lead, the cluster is
        Unknown by a code of the hub, no source of it counts, or the engine gives no complete answer.
        """
        view, name = self._cache.view(), request.match_info["cluster"]
        unavailable = pages.find_unavailable(view)
        if unavailable is not None:
            return error_response(503, unavailable, UNCACHED)
        missing = pages.find_missing(view, pages.FleetRequest(name))
        entry = view.cluster(name)
        if missing is not None or entry is None:
            return error_response(404, missing or _error(view.why), UNCACHED)
        record, why = view.fleet.clusters[name], ""
        if record.content.code is not None:
            why = f"the cluster is Unknown ({record.content.code}), and so are its namespaces"
        elif not record.source:
            why = "no source of the cluster counts at the moment"
        if why:
            return error_response(503, _error(why), UNCACHED)
        try:
            namespaces = await self._ask(record.label, record.source)
        except QueryFailed as err:
            why = f"no complete answer ({err.result}): {err}"
            return error_response(503, _error(why), UNCACHED)
        detail = ClusterDetail(
            schema=SCHEMA_VERSION, scope=FLEET_SCOPE, cluster=entry, namespaces=namespaces
        )
        return Response(body=encode(detail), headers={hdrs.CONTENT_TYPE: JSON, **UNCACHED})

    async def _ask(self, label: str, source: str) -> tuple[FleetNamespace, ...]:
        query = of_cluster(self._label, label)
        async with self._turn:
            body = await self._client.ask(query, time_limit=TIME_LIMIT, limit=SERIES_LIMIT)
        return await asyncio.to_thread(_gather, body, source)


def _gather(body: bytes, source: str) -> tuple[FleetNamespace, ...]:
    return read(body, lambda found: gather_namespaces(found.series, source), limit=SERIES_LIMIT)


def _error(text: str) -> StatusError:
    return StatusError(schema=SCHEMA_VERSION, error=text, remedy="Ask again later.")
