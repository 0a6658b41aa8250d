"""
Followers of episodes: completeness, beginnings and ends.
"""

from datetime import timedelta

from reporter.runtime.announcing.announcements import Announcements
from reporter.runtime.process.clock import Clock
from reporter.stages.announcing.outcome import WriteOutcome
from tests.support.builders import a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.replay import Replay, involved_for


BBR = a_key("clusterBBR")
CATALOGUE = a_catalogue(an_entry("clusterBBR", 20))


class Observer:
    def __init__(self) -> None:
        self.seen: list[tuple] = []

    def on_episode_begin(self, key) -> None:
        self.seen.append(("begin", key))

    def on_episode_end(self, key, lasted: timedelta) -> None:
        self.seen.append(("end", key, lasted))


class Followed:
    """
    The announcements of a process, with its passes and writes.
    """

    def __init__(self) -> None:
        self.replay, self.observer = Replay(CATALOGUE, announcing=False), Observer()
        self.announcements = Announcements(
            CATALOGUE,
            self.replay.settings,
            Clock(),
            involved_for=lambda _, subject: involved_for(subject),
            observer=self.observer,
        )
        self.changes = 0
        self.announcements.add_follower(self._count)

    def _count(self) -> None:
        self.changes += 1

    def update(self) -> None:
        replay = self.replay
        self.announcements.update(replay.evaluation, replay.snapshot, now=replay.now)

    def write(self) -> None:
        context = self.announcements.publish_context()
        for each in context.pending_writes(now=self.replay.now):
            record = context.compose_event(each.key, now=self.replay.now)
            assert record is not None
            self.announcements.write_finished(record, WriteOutcome.WRITTEN)


def test_episode_begins_with_its_event_and_ends_once_it_has_settled():
    followed = Followed()
    followed.replay.set_verdicts(an_active_verdict(BBR))
    followed.update()
    assert followed.observer.seen == []
    followed.write()
    assert followed.observer.seen == [("begin", BBR)]
    started = followed.replay.now
    followed.replay.set_clear(BBR).advance(31)
    followed.update()
    assert followed.observer.seen[1:] == [("end", BBR, followed.replay.now - started)]
    followed.write()
    assert len(followed.observer.seen) == 2, "a Ready Event is no episode"


def test_process_that_stands_down_has_seen_no_end():
    followed = Followed()
    followed.replay.set_verdicts(an_active_verdict(BBR))
    followed.update()
    followed.write()
    followed.announcements.stood_down()
    followed.update()
    assert followed.observer.seen == [("begin", BBR)]


def test_episodes_are_complete_from_the_read_back_until_it_stands_down():
    followed = Followed()
    assert not followed.announcements.is_complete
    followed.announcements.restored(())
    assert followed.announcements.is_complete
    followed.announcements.stood_down()
    assert not followed.announcements.is_complete


def test_followers_are_called_after_each_change():
    followed = Followed()
    followed.update()
    followed.announcements.restored(())
    followed.announcements.stood_down()
    assert followed.changes == 3
