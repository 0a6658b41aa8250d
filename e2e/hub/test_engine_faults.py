"""
An engine that is slow, or whose answers are none: states stand until they are stale, and nobody becomes
Current by it.
"""

from collections.abc import Iterator

import pytest

from e2e.controlplane import until
from e2e.hub.parts import faulty_engine, hub_process
from e2e.hub.parts.faulty_engine import Fault, FaultyEngine
from e2e.hub.parts.fleet import EAST, SEEN_WITHIN, UNKNOWN_WITHIN, Fleet, running_fleet


pytestmark = [pytest.mark.controlplane, pytest.mark.slow]

LATE = "late"
"""
An object for the same cluster, which people create while the engine is broken.
"""


@pytest.fixture(scope="module")
def running() -> Iterator[Fleet]:
    with running_fleet(EAST, between=faulty_engine.between) as fleet:
        yield fleet


@pytest.fixture
def fleet(running: Fleet) -> Iterator[Fleet]:
    """
    Yield the fleet once its cluster is Current.
    """
    running.until(EAST, "Current", within=UNKNOWN_WITHIN)
    yield running
    client = running.east.plane.client
    if client.exists(f"{hub_process.PATH}/{LATE}"):
        client.delete(f"{hub_process.PATH}/{LATE}")


@pytest.mark.parametrize(
    ("fault", "result"),
    [
        (None, "unreachable"),
        (faulty_engine.failing, "failed"),
        (faulty_engine.throttling, "throttled"),
        (faulty_engine.partial, "partial"),
        (faulty_engine.marked_partial, "partial"),
        (faulty_engine.cut_off, "unreachable"),
        (faulty_engine.too_large, "too_large"),
        (faulty_engine.login_page, "unreadable"),
    ],
    ids=lambda value: "slow" if value is None else getattr(value, "__name__", None),
)
def test_what_is_no_complete_answer_makes_nobody_current(
    fleet: Fleet, fault: Fault | None, result: str
) -> None:
    assert isinstance(fleet.asked, FaultyEngine)
    with fleet.asked.broken(fault):
        until(lambda: _result(fleet) == result, within=SEEN_WITHIN, what=f"a query is {result}")
        hub_process.create_cluster(fleet.east.plane.client, LATE, clusterLabel=EAST)
        # A state that an answer changes would have changed by the first one.
        assert fleet.status(EAST).get("lastKnown", "Current") == "Current"
        fleet.until(EAST, "Unknown EngineUnavailable", within=UNKNOWN_WITHIN)
        fleet.until(LATE, "Unknown EngineUnavailable")
        assert fleet.status(EAST)["lastKnown"] == "Current"
        assert "lastKnown" not in fleet.status(LATE), "it was never known"
        assert fleet.ask("--exit-code").returncode == 5
        assert "not answered: clusters: " in fleet.hub.readiness()
    fleet.until(EAST, "Current", within=UNKNOWN_WITHIN)
    fleet.until(LATE, "Current", within=UNKNOWN_WITHIN)


def _result(fleet: Fleet) -> str:
    queries = {each["query"]: each for each in fleet.document()["fleet"]["queries"]}
    found: str = queries["clusters"]["result"]
    return found
