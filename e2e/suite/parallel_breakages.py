"""
Outages that do not touch each other, each in a namespace of its own, all at the same time.
"""

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
    """
    *saying*: what its Warning says, beside whose it is.
    """

    breaks: Callable[[SuiteModel], AbstractContextManager[None]]
    reason: str
    message_contains: str
    ready_reason: str


@contextlib.contextmanager
def run_breakages(
    request: pytest.FixtureRequest, cluster: ClusterUnderTest, troubles: Mapping[str, Breakage]
) -> Iterator[dict[str, Future[Event]]]:
    """
    The Warning of each, when it is over; of those alone whose tests were asked for.
    """
    here = (item for item in request.session.items if item.path == request.path)
    asked = {
        str(item.callspec.params["name"]) for item in here if isinstance(item, pytest.Function)
    }
    with ThreadPoolExecutor(max_workers=len(asked)) as hands:
        yield {name: hands.submit(_run_breakage, cluster, name, troubles[name]) for name in asked}


def _run_breakage(cluster: ClusterUnderTest, name: str, trouble: Breakage) -> Event:
    with models.installed(cluster, name) as model:
        outage = ExpectedOutage(
            trouble.reason, model.namespace, trouble.message_contains, trouble.ready_reason
        )
        return outage.run(cluster, trouble.breaks(model))
