"""The cases of the fleet: what a hub answers about clusters, round by round."""

import pytest

from tests.support.fleet.case_replay import CaseRounds, case_files


CASES = case_files()


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    case = CASES[name]
    played = CaseRounds(case).run()
    assert played.states == case["states"]
    dropped = played.rounds.fleet.dropped
    found = {why.value: " ".join(each.names) for why, each in dropped.items()}
    assert found == case.get("dropped", {})
