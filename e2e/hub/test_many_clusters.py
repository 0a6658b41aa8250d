"""Ten thousand clusters in a real Prometheus, of which three thousand vanish at once."""

import json
from collections import Counter

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.hub.parts import pages
from e2e.hub.parts.engines import scraping
from e2e.hub.parts.hub_process import HubProcess, install
from e2e.hub.parts.synthetic import SyntheticFleet
from e2e.support.metrics_process import Prometheus
from e2e.support.production_stack.workload import MINIMAL_OPTIONS


pytestmark = [pytest.mark.controlplane, pytest.mark.slow]

MANY, VANISHED = 10_000, 3_000
STALE = 90
BOUND = 600.0
FLAGS = (
    "--hub-engage=seen",
    "--leader-elect=false",
    "--hub-interval-seconds=30",
    f"--hub-stale-seconds={STALE}",
)


def test_those_that_vanish_are_silent_and_all_others_stay_current() -> None:
    fleet = SyntheticFleet(MANY)
    with ControlPlane(MINIMAL_OPTIONS) as plane, pages.served(fleet.render) as port:
        data = "--storage.tsdb.path={folder}/data"
        engine = Prometheus(plane, "central", scraping(port, seconds=15), data)
        engine.start()
        install(plane.client)
        with HubProcess(plane, engine, *FLAGS) as hub:
            until(lambda: _states(hub) == {"Current": MANY}, within=BOUND, what="all are Current")
            fleet.silent = VANISHED
            seen: set[str] = set()

            def are_silent() -> bool:
                found = _states(hub)
                seen.update(found)
                assert found["Current"] >= MANY - VANISHED, "those that are left have reported"
                return found == {"Current": MANY - VANISHED, "Unknown": VANISHED}

            until(are_silent, within=BOUND, what="those that vanished are Unknown")
            assert seen == {"Current", "Unknown"}
            assert hub.metric("hub_unknown_clusters", code="Silent") == VANISHED
            fleet.silent = 0
            until(lambda: _states(hub) == {"Current": MANY}, within=BOUND, what="all are back")


def _states(hub: HubProcess) -> Counter[str]:
    """
    Return the numbers of clusters by state, from the same document that the command status reads.
    """
    document = json.loads(hub.read_page("/status/v1"))
    return Counter(each["state"] for each in document.get("clusters", ()))
