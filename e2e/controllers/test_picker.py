"""The endpoint picker while its pool is missing or may not be read, as remedies and codes have it."""

import secrets
from collections.abc import Iterator

import pytest

from e2e.controllers.picker import NOT_SERVING, SERVING, Picker
from e2e.controlplane import ControlPlane, Json, until
from reporter.kinds.core import ContainerStateTerminated
from reporter.resources.pods import CRASH, ENDED, end_code


pytestmark = [pytest.mark.controlplane, pytest.mark.slow]
POOL = "qwen-inferencepool"
SPEC: Json = {
    "selector": {"matchLabels": {"inferenceset.kaito.sh/created-by": "qwen"}},
    "targetPorts": [{"number": 5000}],
    "endpointPickerRef": {"name": f"{POOL}-epp", "port": {"number": 9002}},
}
GRACE = 130
"""Seconds that the chart gives it to end."""

UNREADABLE_WITHIN = 180
"""Seconds; a controller waits two minutes for its first list."""


@pytest.fixture
def picker(control_plane: ControlPlane) -> Iterator[Picker]:
    """The picker of a namespace of its own, which has no pool."""
    name = f"picker-{secrets.token_hex(2)}"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    control_plane.client.create("/api/v1/namespaces", namespace)
    yield Picker(control_plane, name, POOL)
    control_plane.client.delete(f"/api/v1/namespaces/{name}")


def _create_pool(picker: Picker) -> str:
    """Create the pool, and return its path."""
    metadata = {"name": POOL, "namespace": picker.namespace}
    kind = {"apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool"}
    pool = {**kind, "metadata": metadata, "spec": SPEC}
    picker.plane.client.create(picker.plane.client.collection(pool), pool)
    return picker.plane.client.path(pool)


@pytest.mark.usefixtures("needs_picker")
def test_its_probes_fail_while_the_pool_is_missing_and_nothing_else_ends_it(
    picker: Picker,
) -> None:
    process = picker.start(picker.plane.kubeconfig())
    until(lambda: picker.health() == NOT_SERVING, within=60, what="the picker lacks its pool")
    path = _create_pool(picker)
    until(lambda: picker.health() == SERVING, within=60, what="the picker has its pool")
    picker.plane.client.delete(path)
    until(lambda: picker.health() == NOT_SERVING, within=60, what="its pool is deleted")
    assert process.running(), process.tail()
    code, tail = process.stop(grace=GRACE), process.tail()
    assert end_code(ContainerStateTerminated(exit_code=code)) == ENDED, tail


@pytest.mark.usefixtures("needs_picker")
def test_it_ends_with_an_error_where_it_may_not_read_the_pool(picker: Picker) -> None:
    _create_pool(picker)
    namespace, client = picker.namespace, picker.plane.client
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "picker"}}
    client.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", account)
    process = picker.start(picker.plane.service_account_kubeconfig(namespace, "picker"))
    until(lambda: not process.running(), within=UNREADABLE_WITHIN, what="the picker has ended")
    code = process.exit_code()
    assert code is not None
    assert end_code(ContainerStateTerminated(exit_code=code)) == CRASH, process.tail()
