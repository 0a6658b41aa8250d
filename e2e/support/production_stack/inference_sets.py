"""InferenceSets of a bare control plane, misconfigured so that it counts at once, and repaired."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from e2e.controlplane import Client, ControlPlane, Json
from e2e.controlplane.waiting import until
from e2e.support import events
from e2e.support.events import Event
from e2e.support.production_stack import workload
from e2e.support.production_stack.workload import SETS_OF_A_TEAM
from e2e.support.reporter_process import ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import GRACE


INVALID_REASON, READY_REASON = "inferencesetScalingMisconfigured", "inferencesetReady"
WRONG = {
    "scaledobject.kaito.sh/auto-provision": "true",
    "scaledobject.kaito.sh/max-replicas": "none",
}
RIGHT = dict.fromkeys(WRONG)
GROUP = "/apis/kaito.sh"


@contextlib.contextmanager
def bare_plane(many: int, **options: Any) -> Iterator[ControlPlane]:
    """
    A control plane with no other writer and so many healthy InferenceSets, all older than the grace:
    else what is made last would be announced later than the rest.
    """
    with ControlPlane(replace(workload.MINIMAL_OPTIONS, **options)) as plane:
        write_aged(plane, many)
        yield plane


@contextlib.contextmanager
def lent_plane(shared: SharedPlane, many: int) -> Iterator[ControlPlane]:
    """The shared control plane, with the same."""
    with shared.lent() as plane:
        write_aged(plane, many)
        yield plane


def write_aged(plane: ControlPlane, many: int) -> None:
    workload.write(plane, many)
    time.sleep(GRACE + 1)  # of the clock of the API server, which has whole seconds


def healthy_models(plane: ControlPlane) -> ControlPlane:
    """Repair all models and delete the Events before a test. Returns *plane*."""
    repair_all(plane.client)
    events.clear(plane.client)
    return plane


def name(number: int) -> str:
    """
    Return the InferenceSet of this number as ``namespace/name``, the form of messages and status.
    """
    team, model = divmod(number, SETS_OF_A_TEAM)
    return f"team-{team}/model-{model}"


def path(number: int, *, version: str = "v1beta1") -> str:
    namespace, _, own = name(number).partition("/")
    return f"{GROUP}/{version}/namespaces/{namespace}/inferencesets/{own}"


def misconfigure(client: Client, number: int, **where: str) -> None:
    client.patch(path(number, **where), {"metadata": {"annotations": WRONG}})


def repair(client: Client, number: int, **where: str) -> None:
    client.patch(path(number, **where), {"metadata": {"annotations": RIGHT}})


def repair_all(client: Client) -> None:
    for each in client.list(f"{GROUP}/v1beta1/inferencesets"):
        if set(WRONG) & set(each["metadata"].get("annotations", {})):
            meta = each["metadata"]
            here = f"{GROUP}/v1beta1/namespaces/{meta['namespace']}/inferencesets/{meta['name']}"
            client.patch(here, {"metadata": {"annotations": RIGHT}})


# ---------------------------------------------------------------- their Events and states


def model_events(client: Client) -> list[tuple[str, str]]:
    """Return reason and InferenceSet of each Event, in the order of the last writes."""
    return [(each.reason, _of(each)) for each in events.reporter_events(client)]


def wait_for(client: Client, reason: str, number: int, *, within: float, count: int = 1) -> Event:
    about = f"InferenceSet {name(number)}{' ' if reason == READY_REASON else ':'}"
    return events.wait_for(client, reason, within=within, containing=about, count=count)


def _of(event: Event) -> str:
    labels = event.raw["metadata"].get("labels", {})
    return next((v for k, v in labels.items() if k.endswith("/inferenceset")), "")


def state(reporter: ReporterProcess, number: int) -> str:
    """
    Return the state of its configuration finding: "clear" if there is none, "gone" if the subject
    is not listed.
    """
    namespace, _, own = name(number).partition("/")
    for subject in reporter.status()["subjects"]:
        if (subject.get("namespace"), subject.get("name")) == (namespace, own):
            return next(
                (
                    each["state"]
                    for each in subject["verdicts"]
                    if each["reason"] == INVALID_REASON
                ),
                "clear",
            )
    return "gone"


def wait_state(reporter: ReporterProcess, number: int, wanted: str, *, within: float) -> None:
    until(
        lambda: state(reporter, number) == wanted,
        within=within,
        what=f"{INVALID_REASON} of {name(number)} is {wanted}",
    )


def manifest(client: Client, number: int) -> Json:
    """Return a manifest that can be created again."""
    found = client.get(path(number))
    for key in ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"):
        found["metadata"].pop(key, None)
    return found
