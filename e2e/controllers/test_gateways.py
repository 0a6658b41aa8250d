"""A Gateway under istiod: each scenario, and its recorded story with --record."""

from collections.abc import Iterator

import pytest

from e2e.controllers.gateway_scenarios import SCENARIOS
from e2e.controllers.istiod import Istiod
from e2e.controllers.model import a_model
from e2e.controllers.playing import play
from e2e.controllers.scenarios import Scenario
from e2e.controllers.stack import ControllerStack
from e2e.support.reporter_process import ReporterProcess


pytestmark = [pytest.mark.controlplane, pytest.mark.slow]


@pytest.fixture(scope="module")
def istiod(controllers: ControllerStack) -> Iterator[Istiod]:
    started = Istiod(controllers.plane)
    started.start()
    yield started
    started.stop()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_an_operator_reads_what_is_wrong_and_nothing_else(
    scenario: Scenario,
    controllers: ControllerStack,
    istiod: Istiod,
    reporter: ReporterProcess,
    record: bool,
) -> None:
    with a_model(controllers.plane, scenario.name, istiod=istiod) as model:
        play(scenario, model, reporter, record=record)
