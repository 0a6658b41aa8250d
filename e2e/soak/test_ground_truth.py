"""The comparison finds every kind of wrong Event, and none among right ones."""

import pytest

from e2e.soak.ground_truth import (
    READY,
    AnnouncedEvent,
    ComponentOutage,
    TimeBounds,
    delays,
    violations,
)


A, B = "clusterA", "clusterB"
BOUNDS = TimeBounds(announce_within=60, late_by=20, join_within=33)
OUT = ComponentOutage(A, 100, 300)


@pytest.mark.parametrize(
    ("outages", "announced"),
    [
        ([OUT], [AnnouncedEvent(A, 103), AnnouncedEvent(READY, 310)]),
        (
            [OUT, ComponentOutage(B, 150, 400)],
            [AnnouncedEvent(A, 103), AnnouncedEvent(B, 150), AnnouncedEvent(READY, 410)],
        ),
        ([ComponentOutage(A, 100, 110)], []),
        ([ComponentOutage(A, 100, 110)], [AnnouncedEvent(A, 115), AnnouncedEvent(READY, 140)]),
        (
            [OUT, ComponentOutage(A, 310, 500)],
            [AnnouncedEvent(A, 103), AnnouncedEvent(READY, 510)],
        ),
        (
            [OUT, ComponentOutage(A, 400, 500)],
            [
                AnnouncedEvent(A, 100),
                AnnouncedEvent(READY, 310),
                AnnouncedEvent(A, 401),
                AnnouncedEvent(READY, 510),
            ],
        ),
    ],
    ids=["one", "two", "short", "short and late", "joined", "twice out"],
)
def test_right_events_have_no_violations(outages, announced):
    assert list(violations(outages, announced, BOUNDS)) == []


@pytest.mark.parametrize(
    ("announced", "violation"),
    [
        ([AnnouncedEvent(READY, 310)], "was out from 100 for 200 s without an Event"),
        (
            [AnnouncedEvent(A, 90), AnnouncedEvent(A, 103), AnnouncedEvent(READY, 310)],
            "clusterA was announced at 90 without an outage",
        ),
        (
            [
                AnnouncedEvent(A, 103),
                AnnouncedEvent(READY, 310),
                AnnouncedEvent(A, 330),
                AnnouncedEvent(READY, 340),
            ],
            "at 330 without an outage",
        ),
        (
            [AnnouncedEvent(A, 103), AnnouncedEvent(A, 200), AnnouncedEvent(READY, 310)],
            "at 103 and 200 for one outage",
        ),
        (
            [AnnouncedEvent(A, 103), AnnouncedEvent(READY, 200), AnnouncedEvent(READY, 310)],
            "announced at 200 during an outage of clusterA",
        ),
        (
            [AnnouncedEvent(A, 103), AnnouncedEvent(READY, 310), AnnouncedEvent(READY, 350)],
            "announced twice, at 310 and 350",
        ),
        ([AnnouncedEvent(A, 103)], "no clusterReady was announced after the last outage"),
        (
            [AnnouncedEvent(B, 103), AnnouncedEvent(A, 103), AnnouncedEvent(READY, 310)],
            "clusterB was announced at 103 without an outage",
        ),
    ],
    ids=["hidden", "early", "late", "double", "ready early", "ready twice", "no ready", "other"],
)
def test_every_wrong_event_is_found(announced, violation):
    found = "\n".join(violations([OUT], announced, BOUNDS))
    assert violation in found


def test_new_leader_may_join_an_outage_to_an_episode_without_its_ready():
    announced = [AnnouncedEvent(A, 103), AnnouncedEvent(READY, 510)]
    outages = [OUT, ComponentOutage(A, 400, 500)]
    assert list(violations(outages, announced, BOUNDS, disturbed_at=[390])) == []
    assert "from 400 for 100 s" in "\n".join(
        violations(outages, announced, BOUNDS, disturbed_at=[350])
    )


def test_delay_runs_from_the_outage_to_its_own_event():
    announced = [AnnouncedEvent(A, 103), AnnouncedEvent(READY, 310), AnnouncedEvent(A, 401)]
    assert delays([OUT, ComponentOutage(A, 400, 500)], announced, BOUNDS) == [3, 1]
