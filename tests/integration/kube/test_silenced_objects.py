"""The objects that are silenced by an annotation, in the version that a cluster serves."""

import copy

import pytest

from devcluster.example.crds import crd
from devcluster.server import DevCluster
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.resource_kind import SILENCE_PREFIX
from reporter.kube.client import RestClient
from reporter.kube.errors import NotFound
from reporter.kube.silences import read_silenced_object, silence_object
from tests.integration.kube.test_elector import api, server


__all__ = ["api", "server"]


@pytest.fixture(params=INFERENCE_SETS.versions)
def version(server: DevCluster, request: pytest.FixtureRequest) -> str:
    """The only version of InferenceSets that the server serves."""
    found = copy.deepcopy(crd("inferencesets.kaito.sh"))
    found["spec"]["versions"] = [{**found["spec"]["versions"][0], "name": request.param}]
    server.cluster.upsert(found)
    server.cluster.upsert(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-m"}}
    )
    server.cluster.upsert(
        {
            "apiVersion": f"kaito.sh/{request.param}",
            "kind": "InferenceSet",
            "metadata": {
                "namespace": "team-m",
                "name": "qwen",
                "annotations": {f"{SILENCE_PREFIX}untill": "2026-11-01", "other": "x"},
            },
        }
    )
    return request.param


async def test_an_inference_set_is_silenced_in_the_version_that_is_served(
    server: DevCluster, api: RestClient, version: str
):
    found = await read_silenced_object(api, INFERENCE_SETS, "team-m", "qwen")
    assert f"/{version}/" in found.path
    assert found.annotations == {"untill": "2026-11-01"}
    await silence_object(api, found, {"until": "2026-12-01", "reasons": "all"})
    (written,) = server.cluster.list(INFERENCE_SETS.group_resource, "team-m")
    assert written["metadata"]["annotations"] == {
        f"{SILENCE_PREFIX}until": "2026-12-01",
        f"{SILENCE_PREFIX}reasons": "all",
        "other": "x",
    }


@pytest.mark.usefixtures("version")
async def test_an_inference_set_that_does_not_exist_is_named(api: RestClient):
    with pytest.raises(NotFound, match=r'inferencesets\.kaito\.sh "other" not found'):
        await read_silenced_object(api, INFERENCE_SETS, "team-m", "other")


async def test_a_kind_that_is_not_served_is_named(api: RestClient):
    with pytest.raises(NotFound, match=r"inferencesets\.kaito\.sh is not served"):
        await read_silenced_object(api, INFERENCE_SETS, "team-m", "qwen")
