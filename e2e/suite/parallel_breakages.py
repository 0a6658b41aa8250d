"""Independent outages, each in its own namespace, all at the same time."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pytest

from e2e.suite import model as models
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import ExpectedOutage
from e2e.suite.model import SuiteModel
from e2e.support.events import Event


@dataclass(frozen=True)
class Breakage:
    """A breakage and the Events that must follow it; the Warning contains *message_contains*."""

    breaks: Callable[[SuiteModel], AbstractContextManager[None]]
    reason: str
    message_contains: str
    ready_reason: str


@contextlib.contextmanager
def run_breakages(
    request: pytest.FixtureRequest, cluster: ClusterUnderTest, breakages: Mapping[str, Breakage]
) -> Iterator[dict[str, Future[Event]]]:
    """Run the breakages of the selected tests. Provide the Warning of each by name."""
    items = (item for item in request.session.items if item.path == request.path)
    selected = {
        str(item.callspec.params["name"]) for item in items if isinstance(item, pytest.Function)
    }
    with ThreadPoolExecutor(max_workers=len(selected)) as executor:
        yield {
            name: executor.submit(_run_breakage, cluster, name, breakages[name])
            for name in selected
        }


def _run_breakage(cluster: ClusterUnderTest, name: str, breakage: Breakage) -> Event:
    with models.installed(cluster, name) as model:
        outage = ExpectedOutage(
            breakage.reason, model.namespace, breakage.message_contains, breakage.ready_reason
        )
        return outage.run(cluster, breakage.breaks(model))
