"""Episodes continue from their HealthEvents where the Events are gone."""

from reporter.kinds.health_events import Phase
from reporter.stories.store_replay import ReplayedStore
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.replay import Replay


BBR = a_key("clusterBBR")
CATALOGUE = a_catalogue(an_entry("clusterBBR", 20))


def an_episode() -> tuple[Replay, ReplayedStore]:
    replay = Replay(CATALOGUE).set_verdicts(an_active_verdict(BBR, a_trouble("bbr"))).advance(100)
    return replay, ReplayedStore(replay).settle()


def restart_without_events(replay: Replay, store: ReplayedStore) -> None:
    replay.writes.clear()
    store.restart(replay)
    replay.restart(back_after=5)


def test_an_episode_continues_without_its_event_and_under_its_name():
    replay, store = an_episode()
    (before,) = replay.writes
    restart_without_events(replay, store)
    replay.advance(400)
    store.settle()
    again = replay.writes[0]
    assert (again.key, again.episode_start) == (before.key, before.episode_start)
    assert again.involved_object == before.involved_object
    assert [each.phase for each in store.existing.values()] == [Phase.ACTIVE]


def test_an_episode_that_cannot_be_evaluated_is_neither_superseded_nor_written():
    replay, store = an_episode()
    replay.set_unknown(BBR)
    restart_without_events(replay, store)
    replay.advance(100)
    store.settle()
    assert replay.writes == []
    assert [each.phase for each in store.existing.values()] == [Phase.ACTIVE]
    assert replay.evaluation.tracked.finding_states[BBR].past_hold


def test_an_episode_that_is_over_ends_with_its_ready():
    replay, store = an_episode()
    replay.set_clear(BBR)
    restart_without_events(replay, store)
    store.settle()
    replay.advance(60)
    store.settle()
    assert [each.key.reason for each in replay.writes] == ["clusterReady"]
    assert [each.phase for each in store.existing.values()] == [Phase.RESOLVED]
