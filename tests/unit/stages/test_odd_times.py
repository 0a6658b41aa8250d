"""
Times that no clock of a cluster shows do not end a pass.
"""

from datetime import UTC, datetime, timedelta

import pytest

from reporter.kube.changes import Put, Spoilt, read_event
from reporter.kube.translation import Asked
from reporter.model.kinds import DEPLOYMENTS
from reporter.model.words import Kind
from tests.builders import a_catalogue, a_key, a_trouble, active, an_entry
from tests.play import Play


LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
LINE = """{"type":"ADDED","object":{"metadata":{"name":"a"},"status":{"conditions":[
  {"type":"Available","status":"False","lastTransitionTime":"2026-05-01T12:00:00%s"}]}}}"""


@pytest.mark.parametrize(("zone", "outcome"), [("Z", Put), ("+02:00", Put), ("", Spoilt)])
def test_a_time_without_its_zone_cannot_be_decoded(zone, outcome):
    line = (LINE % zone).encode()
    assert isinstance(read_event(line, DEPLOYMENTS, Asked("watch deployments")), outcome)


def test_what_is_made_at_the_end_of_time_is_young_until_then():
    key = a_key("clusterBBRNotReady")
    play = Play(a_catalogue(an_entry("clusterBBRNotReady", 10)))
    play.say(active(key, a_trouble(kind=Kind.LOST, born=LAST))).after(timedelta(minutes=10))
    assert play.state(key) == "held"
