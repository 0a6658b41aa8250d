"""The floor: a plain client that watches Deployments and creates an Event at once."""

import asyncio
import datetime as dt
import json
import secrets
from typing import NoReturn

from e2e.bench.support.event_waiter import PATH, EventWaiter, Latencies, await_event
from e2e.bench.support.plain_client import Json, PlainClient
from e2e.support.production_stack import components
from e2e.support.production_stack.components import StackComponent


BASELINE_COMPONENT = StackComponent("default", "floor", {"app": "floor"}, replicas=1)
"""A Deployment that the reporter ignores."""

DEPLOYMENTS = "/apis/apps/v1/deployments"
_MARK = b'"name":"floor"'


class BaselineClient:
    """Measures the floor; `run` must run as a task."""

    def __init__(self, session: PlainClient, arrivals: EventWaiter) -> None:
        self._session, self._arrivals = session, arrivals
        self._number, self._run = 0, secrets.token_hex(3)
        self.opened = asyncio.Event()

    async def install(self) -> None:
        """Create the Deployment if an earlier measurement has not."""
        path = components.path(BASELINE_COMPONENT).rpartition("/")[0]
        existing = {item["metadata"]["name"] for item in (await self._session.get(path))["items"]}
        if BASELINE_COMPONENT.name not in existing:
            await self._session.create(path, components.deployment_manifest(BASELINE_COMPONENT))

    async def run(self) -> NoReturn:
        while True:
            version = await self._session.version(DEPLOYMENTS)
            self.opened.set()
            async for _, line in self._session.watch(DEPLOYMENTS, version):
                if _MARK in line and json.loads(line)["object"]["spec"]["replicas"] == 0:
                    await self._session.create(PATH, self._event())

    async def trial(self) -> Latencies:
        self._number += 1
        name = self._name()
        arrival = self._arrivals.expect(lambda event: bool(event["metadata"]["name"] == name))
        begun = asyncio.get_running_loop().time()
        answered = await self._session.patch(
            components.path(BASELINE_COMPONENT), {"spec": {"replicas": 0}}
        )
        arrived = await await_event(arrival, "floor")
        await self._session.patch(components.path(BASELINE_COMPONENT), {"spec": {"replicas": 1}})
        return Latencies(answered, arrived - begun)

    def _name(self) -> str:
        return f"floor.{self._run}.{self._number}"

    def _event(self) -> Json:
        """Build an Event with the fields of the reporter's Events."""
        now = dt.datetime.now(dt.UTC)
        second = now.strftime("%Y-%m-%dT%H:%M:%SZ")
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": self._name(), "namespace": "kube-system"},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Namespace",
                "name": BASELINE_COMPONENT.namespace,
            },
            "type": "Warning",
            "reason": "floor",
            "message": "Deployment default/floor is scaled to zero replicas.",
            "source": {"component": "floor"},
            "reportingComponent": "floor",
            "reportingInstance": "floor",
            "action": "Evaluate",
            "eventTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "firstTimestamp": second,
            "lastTimestamp": second,
            "count": 1,
        }
