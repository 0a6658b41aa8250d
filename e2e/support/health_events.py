"""HealthEvents on a control plane, and their CRD."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from e2e.controlplane import Client, ControlPlane, Json, crds, until
from e2e.support.reporter_process import NAMESPACE
from tests.support.health_events import CRD, RESOURCE


ROOT = "/apis/reporter.productionstack.kaito.sh/v1alpha1"
PATH = f"{ROOT}/namespaces/{NAMESPACE}/healthevents"
CRD_PATH = f"{crds.PATH}/{RESOURCE}"
FLAGS = ("--store=healthevents", f"--release-namespace={NAMESPACE}", "--scrape=off")
"""No pod of the tests has a metrics page, without which reasons that need it stay Unknown."""


@contextlib.contextmanager
def installed_crd(plane: ControlPlane, crd: Json = CRD) -> Iterator[None]:
    """Install the CRD of the chart, or another one of it, for a while; with it go all objects."""
    crds.install(plane.client, [crd])
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    plane.client.apply(space)
    try:
        yield
    finally:
        if plane.client.exists(CRD_PATH):
            crds.remove(plane.client, RESOURCE)


def objects(client: Client, **query: str) -> list[Json]:
    return client.list(PATH, **query)


def phases(client: Client) -> list[str]:
    """Return the objects as ``reason subject phase``, and the resolution."""
    return sorted(map(_phase, objects(client)))


def _phase(found: Json) -> str:
    spec, status = found["spec"], found["status"]
    words = (spec["checkName"], spec["subject"], status["phase"], status.get("resolution"))
    return " ".join(filter(None, words))


def until_phases(client: Client, *wanted: str, within: float) -> list[Json]:
    """Wait until these are the objects; returns them."""
    until(
        lambda: phases(client) == sorted(wanted),
        within=within,
        what=f"{sorted(wanted)}, and not {phases(client)}",
    )
    return objects(client)


def wait_for(client: Client, which: Callable[[Json], Any], *, within: float, what: str) -> Json:
    """Wait for one object and return it."""
    return until(lambda: next(filter(which, objects(client)), None), within=within, what=what)


def set_status(client: Client, name: str, **status: Any) -> Json:
    return client.patch(f"{PATH}/{name}/status", {"status": status})
