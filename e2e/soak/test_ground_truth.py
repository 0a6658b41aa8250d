"""
The judge of the soak finds every kind of untruth, and none in what is true.
"""

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
    ("outages", "told"),
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
def test_nothing_is_wrong_with_the_truth(outages, told):
    assert list(violations(outages, told, BOUNDS)) == []


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ([AnnouncedEvent(READY, 310)], "was out from 100 for 200 s, and nobody said so"),
        (
            [AnnouncedEvent(A, 90), AnnouncedEvent(A, 103), AnnouncedEvent(READY, 310)],
            "clusterA was told at 90, when it was not out",
        ),
        (
            [
                AnnouncedEvent(A, 103),
                AnnouncedEvent(READY, 310),
                AnnouncedEvent(A, 330),
                AnnouncedEvent(READY, 340),
            ],
            "at 330, when it was not out",
        ),
        (
            [AnnouncedEvent(A, 103), AnnouncedEvent(A, 200), AnnouncedEvent(READY, 310)],
            "at 103 and 200 of one outage",
        ),
        (
            [AnnouncedEvent(A, 103), AnnouncedEvent(READY, 200), AnnouncedEvent(READY, 310)],
            "told at 200, when clusterA was out",
        ),
        (
            [AnnouncedEvent(A, 103), AnnouncedEvent(READY, 310), AnnouncedEvent(READY, 350)],
            "told twice, at 310 and 350",
        ),
        ([AnnouncedEvent(A, 103)], "all has healed, and no clusterReady was told"),
        (
            [AnnouncedEvent(B, 103), AnnouncedEvent(A, 103), AnnouncedEvent(READY, 310)],
            "clusterB was told at 103, when it was not",
        ),
    ],
    ids=["hidden", "early", "late", "double", "ready early", "ready twice", "no ready", "other"],
)
def test_every_untruth_is_found(told, wrong):
    found = "\n".join(violations([OUT], told, BOUNDS))
    assert wrong in found


def test_new_leader_may_join_an_outage_to_an_episode_without_its_ready():
    told = [AnnouncedEvent(A, 103), AnnouncedEvent(READY, 510)]
    outages = [OUT, ComponentOutage(A, 400, 500)]
    assert list(violations(outages, told, BOUNDS, troubles=[390])) == []
    assert "from 400 for 100 s" in "\n".join(violations(outages, told, BOUNDS, troubles=[350]))


def test_delay_runs_from_the_outage_to_its_own_event():
    told = [AnnouncedEvent(A, 103), AnnouncedEvent(READY, 310), AnnouncedEvent(A, 401)]
    assert delays([OUT, ComponentOutage(A, 400, 500)], told, BOUNDS) == [3, 1]
