"""
Outages that do not touch each other, each in a namespace of its own, all at the same time.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pytest

from e2e.events import Event
from e2e.suite import model as models
from e2e.suite.cluster import Cluster
from e2e.suite.model import Model
from e2e.suite.said import Outage


@dataclass(frozen=True)
class Trouble:
    """
    *saying*: what its Warning says, beside whose it is.
    """

    breaks: Callable[[Model], AbstractContextManager[None]]
    reason: str
    saying: str
    over: str


@contextlib.contextmanager
def lived(
    request: pytest.FixtureRequest, cluster: Cluster, troubles: Mapping[str, Trouble]
) -> Iterator[dict[str, Future[Event]]]:
    """
    The Warning of each, when it is over; of those alone whose tests were asked for.
    """
    here = (item for item in request.session.items if item.path == request.path)
    asked = {
        str(item.callspec.params["name"]) for item in here if isinstance(item, pytest.Function)
    }
    with ThreadPoolExecutor(max_workers=len(asked)) as hands:
        yield {name: hands.submit(_live, cluster, name, troubles[name]) for name in asked}


def _live(cluster: Cluster, name: str, trouble: Trouble) -> Event:
    with models.installed(cluster, name) as model:
        outage = Outage(trouble.reason, model.namespace, trouble.saying, trouble.over)
        return outage.lived(cluster, trouble.breaks(model))
