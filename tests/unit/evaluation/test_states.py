"""The state of a key in one word."""

from reporter.catalogue.entries import HoldDurations
from reporter.model.enums import TroubleKind
from tests.support.builders import (
    SECOND,
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay


UP, DOWN, SIDE = a_key("clusterUp"), a_key("clusterDown"), a_key("clusterSide")


def states_replay() -> Replay:
    side = an_entry("clusterSide", None, orthogonal=True, holds=HoldDurations(lost=90 * SECOND))
    entries = (an_entry("clusterUp", 10), an_entry("clusterDown", 20), side)
    return Replay(a_catalogue(*entries, rows=(a_suppression("clusterUp", "clusterDown"),)))


def lost(name="thing", **changes):
    return a_trouble(name, TroubleKind.LOST, **changes)


def test_a_key_without_trouble_is_clear():
    assert states_replay().state(UP) == "clear"


def test_trouble_is_held_and_then_announced():
    replay = states_replay().set_verdicts(an_active_verdict(UP, lost()))
    assert replay.state(UP) == "held"
    assert replay.advance(30).state(UP) == "announced"


def test_the_lower_one_of_two_findings_is_outranked():
    replay = states_replay().set_verdicts(an_active_verdict(UP), an_active_verdict(DOWN))
    assert (replay.state(UP), replay.state(DOWN)) == ("announced", "outranked")


def test_trouble_under_an_upstream_that_is_out_is_suppressed_though_still_held():
    replay = states_replay().set_verdicts(
        an_active_verdict(UP, lost(is_out=True)), an_active_verdict(DOWN, lost("other"))
    )
    assert (replay.state(UP), replay.state(DOWN)) == ("held", "suppressed")


def test_trouble_that_ends_settles_and_is_clear():
    replay = states_replay().set_verdicts(an_active_verdict(UP)).set_clear(UP)
    assert replay.advance(29).state(UP) == "settling"
    assert replay.advance(2).state(UP) == "clear"


def test_a_key_is_unknown_with_and_without_earlier_trouble():
    replay = states_replay().set_verdicts(an_active_verdict(UP)).set_unknown(UP, DOWN)
    assert (replay.state(UP), replay.state(DOWN)) == ("unknown", "unknown")


def test_an_orthogonal_finding_is_announced_beside_a_ranked_one():
    replay = (
        states_replay()
        .set_verdicts(an_active_verdict(UP), an_active_verdict(SIDE, lost()))
        .advance(90)
    )
    assert (replay.state(UP), replay.state(SIDE)) == ("announced", "announced")


def test_new_trouble_with_one_object_while_another_settles_is_not_hidden():
    replay = states_replay().set_verdicts(an_active_verdict(UP, a_trouble("one")))
    replay.set_verdicts(an_active_verdict(UP, lost("two")))
    assert replay.state(UP) == "settling"
    assert replay.advance(30).state(UP) == "announced"
