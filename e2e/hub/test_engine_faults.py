"""
An engine that is slow, or whose answers are none: states stand until they are stale, and nobody becomes
Current by it.
"""

from collections.abc import Iterator

import pytest

from e2e.controlplane import until
from e2e.hub.parts import faulty_engine
from e2e.hub.parts.faulty_engine import Fault, FaultyEngine
from e2e.hub.parts.fleet import EAST, SEEN_WITHIN, UNKNOWN_WITHIN, Fleet, running_fleet


pytestmark = [pytest.mark.controlplane, pytest.mark.slow]


@pytest.fixture(scope="module")
def running() -> Iterator[Fleet]:
    with running_fleet(EAST, between=faulty_engine.between) as fleet:
        yield fleet


@pytest.fixture
def fleet(running: Fleet) -> Fleet:
    """Return the fleet once its cluster is Current."""
    running.until(EAST, "Current", within=UNKNOWN_WITHIN)
    return running


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
    """The engine itself is well, and partial answers show how the cluster goes on."""
    assert isinstance(fleet.asked, FaultyEngine)
    with fleet.asked.broken(fault):
        until(lambda: _result(fleet) == result, within=SEEN_WITHIN, what=f"a query is {result}")
        fleet.until(EAST, "Unknown EngineUnavailable", within=UNKNOWN_WITHIN)
        assert fleet.status(EAST)["lastKnown"] == "Current"
        asked = fleet.hub.metric("hub_query_results_total", query="clusters")
        until(
            lambda: fleet.hub.metric("hub_query_results_total", query="clusters") > asked,
            within=UNKNOWN_WITHIN,
            what="it asks again",
        )
        assert fleet.line(EAST) == "Unknown EngineUnavailable"
        assert fleet.ask("--exit-code").returncode == 5
        assert "not answered: clusters: " in fleet.hub.readiness()
    fleet.until(EAST, "Current", within=UNKNOWN_WITHIN)


def _result(fleet: Fleet) -> str:
    queries = {each["query"]: each for each in fleet.document()["fleet"]["queries"]}
    found: str = queries["clusters"]["result"]
    return found
