"""Followers of episodes: completeness, beginnings and ends."""

from datetime import timedelta

from reporter.announcing.announcement_state import WriteOutcome
from reporter.announcing.announcements import Announcements
from reporter.process.clock import Clock
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
    """The announcements of a process, with its passes and writes."""

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
        self.announcements.changes.subscribe(self._count)

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


def test_subscribers_are_called_after_each_change():
    followed = Followed()
    followed.update()
    followed.announcements.restored(())
    followed.announcements.stood_down()
    assert followed.changes == 3


def an_announced_record():
    followed = Followed()
    followed.replay.set_verdicts(an_active_verdict(BBR))
    followed.update()
    context = followed.announcements.publish_context()
    record = context.compose_event(BBR, now=Clock().now())
    assert record is not None
    return record


def test_follower_continues_findings_and_announces_nothing():
    followed = Followed()
    followed.announcements.await_events("not read yet")
    assert followed.announcements.awaits_events
    followed.announcements.remember([an_announced_record()])
    assert (followed.announcements.unread_events, followed.announcements.awaits_events) == (
        "",
        False,
    )
    assert (followed.announcements.announced, followed.announcements.is_complete) == (
        frozenset(),
        False,
    )
    assert followed.announcements.take_remembered(followed.replay.snapshot).findings.keys() == {
        BBR
    }


def test_events_that_a_leader_has_read_since_are_not_replaced_by_earlier_ones():
    followed = Followed()
    followed.update()
    followed.announcements.restored(())
    followed.announcements.remember([an_announced_record()])
    assert not followed.announcements.take_remembered(followed.replay.snapshot)


def test_process_that_stands_down_before_a_pass_continues_what_it_has_read():
    followed = Followed()
    followed.announcements.restored([an_announced_record()])
    followed.announcements.stood_down()
    assert followed.announcements.announced == frozenset()
    assert followed.announcements.take_remembered(followed.replay.snapshot).findings.keys() == {
        BBR
    }


def test_events_that_cannot_be_read_are_awaited_no_longer_and_stay_unread():
    followed = Followed()
    followed.announcements.await_events("not read yet")
    followed.announcements.events_read(why_not="no permission")
    assert not followed.announcements.awaits_events
    assert followed.announcements.unread_events == "no permission"
