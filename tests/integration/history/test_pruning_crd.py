"""CRDs of NVSentinel's without a field, and API servers that drop it or refuse the object."""

from functools import partial

import msgspec
import pytest

from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from reporter.kinds.nvsentinel import NodeHealthEvent
from reporter.kube.client import RestClient
from reporter.kube.object_client import ObjectClient
from tests.integration.announcing.publisher_fixture import ISTIO, lines
from tests.integration.history.store_fixture import StoreFixture, node_parts, running_store
from tests.integration.history.test_node_events import trouble_on
from tests.integration.kube.test_elector import api, server
from tests.support.health_events import NAMESPACE, a_spec
from tests.support.node_events import KIND, a_node_event


__all__ = ["api", "server"]

NAMED = f"the CRD {KIND.group_resource} does not keep spec.processingStrategy as it was written"
STRICT_REFUSAL = (
    'HealthEventResource in version "v1" cannot be handled as a HealthEventResource: strict decoding'
    ' error: unknown field "spec.processingStrategy"'
)


class OfAPruningServer(ObjectClient[NodeHealthEvent]):
    """Drops the strategy on its way, as an API server without field validation does."""

    async def create(self, name, labels, spec, **options) -> NodeHealthEvent:
        pruned = {**msgspec.to_builtins(spec)}
        del pruned["processingStrategy"]
        return await super().create(name, labels, pruned, **options)


async def until_refused(store: StoreFixture, creates: int) -> None:
    """Wait for the refusal, and for further episodes and retries of which nothing is sent."""
    await store.until_result("invalid")
    store.events.set_verdicts(trouble_on("n1", "n2"))
    for number in range(2, 5):
        await store.advance(61)
        await store.until_result("invalid", number)
    assert store.writes("POST") == creates
    assert store.existing == []
    assert not store.is_up


async def test_object_without_its_strategy_is_deleted_and_no_other_is_created(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    parts = partial(node_parts, client_type=OfAPruningServer)
    async with running_store(server, api, parts=parts) as store:
        store.events.set_verdicts(trouble_on("n1"))
        await until_refused(store, creates=1)
        assert store.writes("DELETE") == 1
        assert len(lines(caplog, NAMED)) == 1


async def test_object_that_the_server_refuses_for_a_field_is_not_tried_again(
    server: DevCluster, api: RestClient, caplog: pytest.LogCaptureFixture
):
    refusal = status_response(400, "BadRequest", STRICT_REFUSAL)
    server.faults.add(refusal, method="POST", path="fieldValidation=Strict")
    async with running_store(server, api, parts=node_parts) as store:
        store.events.set_verdicts(trouble_on("n1"))
        await until_refused(store, creates=1)
        assert store.writes("DELETE") == 0
        assert len(lines(caplog, NAMED)) == 1


async def test_object_of_an_earlier_process_without_its_strategy_is_replaced(
    server: DevCluster, api: RestClient
):
    raw = msgspec.to_builtins(
        a_node_event("earlier", a_spec("clusterIstio", node="n1", episode=1))
    )
    del raw["spec"]["processingStrategy"]
    raw |= {"apiVersion": f"{KIND.group}/v1", "kind": KIND.kind}
    raw["metadata"] = {"name": "earlier", "namespace": NAMESPACE}
    async with running_store(server, api, parts=node_parts) as store:
        server.cluster.upsert(raw)
        store.listed()
        store.events.set_verdicts(trouble_on("n1", key=ISTIO))
        await store.events.until(
            lambda: (
                [each["spec"].get("processingStrategy") for each in store.existing]
                == ["STORE_ONLY"]
            ),
            within=30,
        )
