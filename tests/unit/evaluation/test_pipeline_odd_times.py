"""Times that no clock of a cluster shows do not end a pass."""

from datetime import UTC, datetime, timedelta

import pytest

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kube.error_mapping import RequestInfo
from reporter.kube.watch_events import UndecodableObject, Upsert, decode_watch_event
from reporter.model.enums import TroubleKind
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.replay import Replay


LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
LINE = """{"type":"ADDED","object":{"metadata":{"name":"a"},"status":{"conditions":[
  {"type":"Available","status":"False","lastTransitionTime":"2026-05-01T12:00:00%s"}]}}}"""


@pytest.mark.parametrize(
    ("zone", "outcome"), [("Z", Upsert), ("+02:00", Upsert), ("", UndecodableObject)]
)
def test_a_time_without_its_zone_cannot_be_decoded(zone, outcome):
    line = (LINE % zone).encode()
    assert isinstance(
        decode_watch_event(line, DEPLOYMENTS, RequestInfo("watch deployments")), outcome
    )


def test_what_is_made_at_the_end_of_time_is_young_until_then():
    key = a_key("clusterBBRNotReady")
    replay = Replay(a_catalogue(an_entry("clusterBBRNotReady", 10)))
    replay.set_verdicts(
        an_active_verdict(key, a_trouble(kind=TroubleKind.LOST, object_created_at=LAST))
    ).advance(timedelta(minutes=10))
    assert replay.state(key) == "held"
