"""
Ordinary events in the lifecycle of models and their harness, which cause no Event.

Each lifecycle has a namespace of its own, and all run at the same time. Every state on the way
lasts longer than the holds of losses and hard errors, so that one mistaken for either would be
announced. At the end nothing is held, so nothing can follow, and a fault proves that the reporter
was watching.
"""

import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from e2e.controlplane import ControlPlane, nodes, until
from e2e.scenarios.models.model_lifecycles import FAULTS, LIFECYCLES, WORKSPACE
from e2e.support import events
from e2e.support.events import Event
from e2e.support.observer import ANNOUNCE_WAIT, NO_PAGES, Observer, short_hold_flags
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.production_stack.kaito_controller import (
    NODES_READY_REASONS,
    PENDING_REASONS,
)
from e2e.support.production_stack.team import TeamStack, register_class, remove
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import GRACE


BBR = "clusterBBRNotReady"
OF_THE_DRAINED = (("e2e.example/nodes", "of-the-drained"),)
OF_THE_OTHERS = (("kubernetes.io/hostname", "node-0"),)
"""
The node labels of the drained and of the other pods. Pods of a drained node start anew, and the
proxies that Istio creates never become ready by themselves.
"""


@dataclass(frozen=True)
class LifecycleOutcome:
    """
    The Events during a lifecycle and until nothing was held any more, and the Event of the fault
    after it.
    """

    events: list[Event]
    fault: Event


@pytest.fixture(scope="module")
def observer(stack: ControlPlane) -> Iterator[Observer]:
    """An observer of a namespace for each lifecycle, in which all is well and old enough."""
    with contextlib.ExitStack() as after:
        plane = after.enter_context(restore.healthy_stack(stack))
        after.callback(remove, plane, LIFECYCLES)
        register_class(plane.client)
        nodes.create(plane.client, "drained-0", dict(OF_THE_DRAINED))
        with ThreadPoolExecutor() as executor:
            list(executor.map(lambda name: _install(_team(plane, name)), LIFECYCLES))
        time.sleep(GRACE)
        grace = f"--startup-grace-seconds={GRACE}"
        reporter = after.enter_context(
            ReporterProcess(plane, grace, NO_PAGES, *short_hold_flags(plane))
        )
        watcher = Observer(reporter)
        watcher.wait_all_clear()
        yield watcher


@pytest.fixture(scope="module")
def lifecycle_outcomes(observer: Observer) -> dict[str, Future[LifecycleOutcome]]:
    """The outcome of each lifecycle."""
    with ThreadPoolExecutor() as executor:
        return {name: executor.submit(_run_lifecycle, name, observer) for name in LIFECYCLES}


@pytest.mark.parametrize("name", LIFECYCLES)
def test_lifecycle_causes_no_event_and_the_fault_after_it_is_announced(
    lifecycle_outcomes: dict[str, Future[LifecycleOutcome]], name: str
) -> None:
    outcome = lifecycle_outcomes[name].result()
    assert outcome.events == []
    assert FAULTS[name][2] in outcome.fault.message


def test_upgrade_of_all_components_at_once_causes_no_event(
    observer: Observer, lifecycle_outcomes: dict[str, Future[LifecycleOutcome]]
) -> None:
    """Run after the others: a component that is down here may suppress their findings."""
    plane = observer.reporter.plane
    for each in components.COMPONENTS:
        components.roll_out_slowly(plane.client, each)
    observer.wait_held("", "clusterKaitoControllerNotReady")
    time.sleep(ANNOUNCE_WAIT)
    for each in components.COMPONENTS:
        components.until_started(plane.client, each)
    until(lambda: not observer.reporter.states(), within=60, what="all components are clear")
    assert {each.involved[1] for each in observer.events()} <= set(LIFECYCLES)
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    events.wait_for(plane.client, BBR, within=60)


# ---------------------------------------------------------------- used above


def _team(plane: ControlPlane, name: str) -> TeamStack:
    return TeamStack(plane, name, OF_THE_DRAINED if name == "drained" else OF_THE_OTHERS)


def _install(team: TeamStack) -> None:
    for each in team.chart_manifests():
        team.client.apply(each)
    team.accept_gateway()
    team.kaito.create_workspace(WORKSPACE)
    team.kaito.set_workspace_conditions(WORKSPACE, NODES_READY_REASONS | PENDING_REASONS)
    team.kaito.create_stateful_set(WORKSPACE, nodes=dict(team.nodes))
    team.wait_started()
    team.program_gateway()
    team.authorize_api_key()
    team.kaito.wait_started(WORKSPACE)


def _run_lifecycle(name: str, observer: Observer) -> LifecycleOutcome:
    team = _team(observer.reporter.plane, name)
    LIFECYCLES[name](team, observer)
    observer.wait_all_clear(name)
    announced = observer.events(name)
    breaks, reason, _ = FAULTS[name]
    breaks(team)
    text = f"InferenceSet {name}/qwen"
    return LifecycleOutcome(
        announced, events.wait_for(team.client, reason, within=60, containing=text)
    )
