"""Notes of verdicts for the operator."""

from msgspec.structs import replace

from tests.support.builders import an_active_verdict
from tests.support.replay_builders import BBR, cluster_replay


def test_a_note_is_kept_while_its_verdict_has_it():
    noted = replace(an_active_verdict(BBR), notes=("set it",))
    replay = cluster_replay().set_verdicts(noted)
    assert replay.evaluation.notes == {BBR: ("set it",)}
    assert replay.set_clear(BBR).evaluation.notes == {}
