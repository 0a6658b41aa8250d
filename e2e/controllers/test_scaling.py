"""A model that KEDA scales: each scenario, and its recorded story with --record."""

from collections.abc import Iterator

import pytest

from e2e.controllers.keda import Keda, Scaler
from e2e.controllers.model import a_model
from e2e.controllers.playing import play
from e2e.controllers.scaling_scenarios import SCENARIOS
from e2e.controllers.scenarios import Scenario
from e2e.controllers.stack import ControllerStack
from e2e.support.reporter_process import ReporterProcess


pytestmark = [pytest.mark.controlplane, pytest.mark.slow]


@pytest.fixture(scope="module")
def keda(controllers: ControllerStack) -> Keda:
    started = Keda(controllers.plane)
    started.start()
    return started


@pytest.fixture
def scaler(keda: Keda) -> Iterator[Scaler]:
    started = Scaler()
    yield started
    started.end()
    keda.check()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_an_operator_reads_what_is_wrong_and_nothing_else(
    scenario: Scenario,
    controllers: ControllerStack,
    reporter: ReporterProcess,
    scaler: Scaler,
    record: bool,
) -> None:
    with a_model(controllers.plane, scenario.name, scaler) as model:
        play(scenario, model, reporter, record=record)
