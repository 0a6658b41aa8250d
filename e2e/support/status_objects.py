"""ProductionStackStatuses on a control plane, their CRD, and what clients read of them."""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

from e2e.controlplane import ApiError, Client, ControlPlane, Json, crds, until
from tests.support import kstatus
from tests.support.status_objects import CRD, PATH, STATUSES, manifest


ALL = "/apis/reporter.productionstack.kaito.sh/v1alpha1/productionstackstatuses"
CRD_PATH = f"{crds.PATH}/{STATUSES}"
CHANGED = "schemaChanged"
"""A field that only a changed schema has."""

FLAGS = ("--status-objects", "--scrape=off")
"""No pod of the tests has a metrics page, without which reasons that need it stay Unknown."""


@contextlib.contextmanager
def installed_crd(plane: ControlPlane) -> Iterator[None]:
    """Install the CRD of the chart for a while; with it go all objects."""
    crds.install(plane.client, [CRD])
    try:
        yield
    finally:
        if plane.client.exists(CRD_PATH):
            crds.remove(plane.client, STATUSES)


@contextlib.contextmanager
def changed_schema(client: Client, change: Any) -> Iterator[None]:
    """Change the schema of the CRD for a while, in place, by a function."""
    version = copy.deepcopy(CRD["spec"]["versions"][0])
    change(version["schema"]["openAPIV3Schema"])
    version["schema"]["openAPIV3Schema"]["properties"][CHANGED] = {"type": "string"}
    put_version(client, version)
    try:
        yield
    finally:
        put_version(client, CRD["spec"]["versions"][0])


def put_version(client: Client, version: Json) -> None:
    """Write the schema, and wait until it is in effect, which is a moment after it is written."""
    client.patch(CRD_PATH, {"spec": {"versions": [version]}})
    is_changed = CHANGED in version["schema"]["openAPIV3Schema"]["properties"]
    what = "the schema of the CRD is in effect"
    until(lambda: _knows_changed_field(client) == is_changed, within=60, what=what)


def _knows_changed_field(client: Client) -> bool:
    trial = manifest("default", "trial") | {CHANGED: ""}
    try:
        client.create(f"{PATH.format('default')}?dryRun=All&fieldValidation=Strict", trial)
    except ApiError as err:
        if f'unknown field "{CHANGED}"' not in err.body.replace("\\", ""):
            raise
        return False
    return True


def create(client: Client, namespace: str, name: str = "package", **spec: Any) -> Json:
    """Create an object as its user does."""
    return client.create(PATH.format(namespace), manifest(namespace, name, **spec))


def read(client: Client, namespace: str, name: str = "package") -> Json:
    return client.get(f"{PATH.format(namespace)}/{name}")


def change_spec(client: Client, namespace: str, name: str = "package", **spec: Any) -> Json:
    return client.patch(f"{PATH.format(namespace)}/{name}", {"spec": spec})


def reason(found: Json, kind: str = "Ready") -> str:
    """Return the reason of a condition; empty if there is none yet."""
    conditions = found["status"].get("conditions", [])
    return next((each["reason"] for each in conditions if each["type"] == kind), "")


def until_state(
    client: Client, namespace: str, state: str, name: str = "package", *, within: float
) -> Json:
    """Wait until the status of the newest generation has a state, and return the object."""

    def found() -> Json | None:
        each = read(client, namespace, name)
        status = each["status"]
        newest = status["observedGeneration"] == each["metadata"]["generation"]
        return each if newest and status["state"] == state else None

    return until(found, within=within, what=f"{namespace}/{name} is {state}")


def computed(client: Client, namespace: str, name: str = "package") -> str:
    """Return what kstatus makes of an object."""
    return kstatus.compute(read(client, namespace, name))
