"""
The state of a key in one word, for those who ask why nothing was said.
"""

from reporter.model.entries import HoldDurations
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


def a_play() -> Replay:
    side = an_entry("clusterSide", None, orthogonal=True, holds=HoldDurations(lost=90 * SECOND))
    entries = (an_entry("clusterUp", 10), an_entry("clusterDown", 20), side)
    return Replay(a_catalogue(*entries, rows=(a_suppression("clusterUp", "clusterDown"),)))


def lost(name="thing", **changes):
    return a_trouble(name, TroubleKind.LOST, **changes)


def test_what_was_never_in_trouble_is_clear():
    assert a_play().state(UP) == "clear"


def test_trouble_is_held_and_then_announced():
    play = a_play().set_verdicts(an_active_verdict(UP, lost()))
    assert play.state(UP) == "held"
    assert play.advance(30).state(UP) == "announced"


def test_of_two_findings_the_lower_one_is_outranked():
    play = a_play().set_verdicts(an_active_verdict(UP), an_active_verdict(DOWN))
    assert (play.state(UP), play.state(DOWN)) == ("announced", "outranked")


def test_trouble_under_an_upstream_that_is_out_is_suppressed_though_still_held():
    play = a_play().set_verdicts(
        an_active_verdict(UP, lost(is_out=True)), an_active_verdict(DOWN, lost("other"))
    )
    assert (play.state(UP), play.state(DOWN)) == ("held", "suppressed")


def test_what_is_gone_settles_and_is_clear():
    play = a_play().set_verdicts(an_active_verdict(UP)).set_clear(UP)
    assert play.advance(29).state(UP) == "settling"
    assert play.advance(2).state(UP) == "clear"


def test_unknown_is_told_whether_there_was_trouble_before_or_not():
    play = a_play().set_verdicts(an_active_verdict(UP)).set_unknown(UP, DOWN)
    assert (play.state(UP), play.state(DOWN)) == ("unknown", "unknown")


def test_an_orthogonal_finding_is_announced_beside_a_ranked_one():
    play = (
        a_play().set_verdicts(an_active_verdict(UP), an_active_verdict(SIDE, lost())).advance(90)
    )
    assert (play.state(UP), play.state(SIDE)) == ("announced", "announced")


def test_new_trouble_with_one_object_while_another_settles_is_not_hidden():
    play = a_play().set_verdicts(an_active_verdict(UP, a_trouble("one")))
    play.set_verdicts(an_active_verdict(UP, lost("two")))
    assert play.state(UP) == "settling"
    assert play.advance(30).state(UP) == "announced"
