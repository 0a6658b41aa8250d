"""Objects of episodes that are silenced."""

from datetime import timedelta

from reporter.kinds.health_events import StoreLimits
from tests.support.builders import HOUR, MINUTE, NOON, an_active_verdict
from tests.support.health_events import StoreReplay
from tests.support.replay import Replay
from tests.support.silences import a_silence, silenced
from tests.unit.history.test_plan import BBR, CATALOGUE, SUBJECTS, a_store


LATER = NOON + HOUR
SILENCE = a_silence("clusterBBR", until=LATER, by="bob", why="maintenance")
SHOWN = {
    "until": "2026-05-01T13:00:00Z",
    "by": "bob",
    "why": "maintenance",
    "origin": "silences.yaml:1",
}


def announced() -> StoreReplay:
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    return store.settle()


def shown(store: StoreReplay) -> dict | None:
    found = store.settle().only().status or {}
    return found.get("silenced")


def test_an_episode_that_is_silenced_shows_who_did_it_and_until_when():
    store = announced()
    assert shown(store) is None
    silenced(store.replay, SILENCE)
    assert shown(store) == SHOWN
    assert store.only().status.get("occurrences", 1) == 1
    store.replay.advance(HOUR)
    assert shown(store) is None
    assert store.phases() == ["clusterBBR Active"]


def test_another_silence_leaves_nothing_of_the_one_before():
    store = announced()
    silenced(store.replay, SILENCE)
    assert shown(store) == SHOWN
    other = a_silence("all", until=LATER + MINUTE, origin="silences.yaml:2")
    silenced(store.replay, other).advance(MINUTE)
    assert shown(store) == {"until": "2026-05-01T13:01:00Z", "origin": "silences.yaml:2"}


def test_an_object_is_resolved_without_its_silence():
    store = announced()
    silenced(store.replay, SILENCE)
    store.settle().replay.set_clear(BBR).advance(31)
    assert store.settle().phases() == ["clusterBBR Resolved Cleared"]
    assert "silenced" not in store.only().status


def test_trouble_that_begins_silenced_is_no_episode_before_it_is_announced():
    store = StoreReplay(Replay(CATALOGUE, subjects=SUBJECTS), StoreLimits())
    silenced(store.replay, SILENCE).set_verdicts(an_active_verdict(BBR))
    assert store.settle().phases() == []
    store.replay.advance(HOUR)
    assert store.settle().phases() == ["clusterBBR Active"]


def test_the_next_leader_writes_no_more_of_it():
    store = announced()
    silenced(store.replay, SILENCE)
    store.settle().replay.restart(back_after=5)
    store.replay.advance(timedelta(minutes=2))
    assert shown(store) == SHOWN
