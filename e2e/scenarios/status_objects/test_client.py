"""Answers of the API server to a write of a status, and the error that each becomes."""

from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from e2e.controlplane import ControlPlane, Json, crds
from e2e.support import status_objects
from reporter.kinds.productionstack import (
    PRODUCTION_STACK_STATUSES,
    ProductionStackStatus,
)
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from reporter.kube.errors import Conflict, Invalid, NotFound, Unserved
from reporter.kube.object_client import ObjectClient
from reporter.rollup.desired import make_patch
from tests.support.status_objects import PATH, STATUSES


pytestmark = pytest.mark.controlplane

TEAM, VERSION = "team-0", "v1alpha1"
WANTED: Json = {"observedGeneration": 1, "state": "Current", "conditions": []}


@pytest_asyncio.fixture
async def api(plane: ControlPlane) -> AsyncIterator[RestClient]:
    api = await connect(str(plane.kubeconfig()), environ={})
    yield api
    await api.close()


@pytest.fixture
def found(plane: ControlPlane) -> ProductionStackStatus:
    status_objects.create(plane.client, TEAM)
    return _read(plane)


def _read(plane: ControlPlane) -> ProductionStackStatus:
    return msgspec.convert(status_objects.read(plane.client, TEAM), ProductionStackStatus)


async def _patch(api: RestClient, found: ProductionStackStatus, **wanted: object) -> Json:
    patch = make_patch(found, {**WANTED, **wanted}, evaluated_at=None)
    after = await ObjectClient(api, PRODUCTION_STACK_STATUSES, ProductionStackStatus).patch(
        found, patch, version=VERSION
    )
    return dict(after.status or {})


async def test_status_is_patched_and_returned_with_its_new_version(
    plane: ControlPlane, api: RestClient, found: ProductionStackStatus
) -> None:
    patch = make_patch(found, WANTED, evaluated_at=None)
    after = await ObjectClient(api, PRODUCTION_STACK_STATUSES, ProductionStackStatus).patch(
        found, patch, version=VERSION
    )
    assert after == _read(plane)
    assert after.status == WANTED
    assert after.spec == found.spec
    assert after.metadata.generation == found.metadata.generation
    again = await _patch(api, after, state="Failed", packageRevision="v2")
    assert again == {**WANTED, "state": "Failed", "packageRevision": "v2"}
    assert await _patch(api, _read(plane)) == WANTED


async def test_object_that_changed_meanwhile_is_a_conflict(
    plane: ControlPlane, api: RestClient, found: ProductionStackStatus
) -> None:
    status_objects.change_spec(plane.client, TEAM, package={"revision": "v2"})
    with pytest.raises(Conflict):
        await _patch(api, found)
    assert _read(plane).observed_generation == -1


async def test_object_made_anew_under_its_name_is_a_conflict(
    plane: ControlPlane, api: RestClient, found: ProductionStackStatus
) -> None:
    plane.client.delete(f"{PATH.format(TEAM)}/package")
    status_objects.create(plane.client, TEAM)
    with pytest.raises(Conflict):
        await _patch(api, found)
    assert _read(plane).observed_generation == -1


async def test_object_that_was_deleted_is_not_found(
    plane: ControlPlane, api: RestClient, found: ProductionStackStatus
) -> None:
    plane.client.delete(f"{PATH.format(TEAM)}/package")
    with pytest.raises(NotFound):
        await _patch(api, found)


async def test_crd_that_was_removed_is_not_served(
    plane: ControlPlane, api: RestClient, found: ProductionStackStatus
) -> None:
    crds.remove(plane.client, STATUSES)
    with pytest.raises((Unserved, NotFound)):
        await _patch(api, found)


@pytest.mark.parametrize(
    "wrong",
    [{"state": "Broken"}, {"conditions": [{"type": "Ready"}]}, {"lastEvaluationTime": "soon"}],
    ids=str,
)
async def test_status_that_the_crd_does_not_allow_is_invalid(
    api: RestClient, found: ProductionStackStatus, wrong: Json
) -> None:
    with pytest.raises(Invalid):
        await _patch(api, found, **wrong)
