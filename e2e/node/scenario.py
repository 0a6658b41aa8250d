"""A fault of a component, caused for a while, and what is announced of it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from e2e.controlplane import Json
from e2e.node import stack
from e2e.node.release import Release
from e2e.node.stack import Fault
from e2e.suite.expected_events import EventQuery


@dataclass(frozen=True)
class Scenario:
    """
    A fault of a component, and what its Event contains.

    *quota*: of the component's namespace, written before.
    """

    component: str
    reason: str
    contains: tuple[str, ...]
    fault: Fault = field(default_factory=Fault)
    quota: Json | None = None


@contextlib.contextmanager
def caused(release: Release, scenario: Scenario) -> Iterator[None]:
    client, component = release.cluster.client, stack.component(scenario.component)
    quotas = f"/api/v1/namespaces/{component.namespace}/resourcequotas"
    try:
        if scenario.quota:
            client.create(quotas, {"metadata": {"name": "none"}, "spec": scenario.quota})
        scenario.fault.cause(client, component)
        yield
    finally:
        if scenario.quota:
            client.delete(f"{quotas}/none")
        stack.repair(client, component)


def check_announced(events: EventQuery, scenario: Scenario) -> None:
    warning = events.wait_for(scenario.reason, scenario.contains[0])
    print(warning.message)
    missing = [each for each in scenario.contains if each not in warning.message]
    assert (missing, warning.type) == ([], "Warning"), warning.message
    assert warning.involved == ("Namespace", stack.component(scenario.component).namespace)
