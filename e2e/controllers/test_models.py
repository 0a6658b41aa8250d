"""A model under KAITO and Karpenter: each scenario, and its recorded story with --record."""

import pytest

from e2e.controllers.model import a_model
from e2e.controllers.playing import play
from e2e.controllers.scenarios import SCENARIOS, Scenario
from e2e.controllers.stack import ControllerStack
from e2e.support.reporter_process import ReporterProcess


pytestmark = [pytest.mark.controlplane, pytest.mark.slow]


@pytest.mark.usefixtures("clouds")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_an_operator_reads_what_is_wrong_and_nothing_else(
    scenario: Scenario, controllers: ControllerStack, reporter: ReporterProcess, record: bool
) -> None:
    with a_model(controllers.plane, scenario.name) as model:
        play(scenario, model, reporter, record=record)
