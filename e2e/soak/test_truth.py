"""
The judge of the soak finds every kind of untruth, and none in what is true.
"""

import pytest

from e2e.soak.truth import READY, Bounds, Outage, Told, delays, falsehoods


A, B = "clusterA", "clusterB"
BOUNDS = Bounds(told=60, late=20, joined=33)
OUT = Outage(A, 100, 300)


@pytest.mark.parametrize(
    ("outages", "told"),
    [
        ([OUT], [Told(A, 103), Told(READY, 310)]),
        ([OUT, Outage(B, 150, 400)], [Told(A, 103), Told(B, 150), Told(READY, 410)]),
        ([Outage(A, 100, 110)], []),
        ([Outage(A, 100, 110)], [Told(A, 115), Told(READY, 140)]),
        ([OUT, Outage(A, 310, 500)], [Told(A, 103), Told(READY, 510)]),
        (
            [OUT, Outage(A, 400, 500)],
            [Told(A, 100), Told(READY, 310), Told(A, 401), Told(READY, 510)],
        ),
    ],
    ids=["one", "two", "short", "short and late", "joined", "twice out"],
)
def test_nothing_is_wrong_with_the_truth(outages, told):
    assert list(falsehoods(outages, told, BOUNDS)) == []


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ([Told(READY, 310)], "was out from 100 for 200 s, and nobody said so"),
        (
            [Told(A, 90), Told(A, 103), Told(READY, 310)],
            "clusterA was told at 90, when it was not out",
        ),
        (
            [Told(A, 103), Told(READY, 310), Told(A, 330), Told(READY, 340)],
            "at 330, when it was not out",
        ),
        ([Told(A, 103), Told(A, 200), Told(READY, 310)], "at 103 and 200 of one outage"),
        ([Told(A, 103), Told(READY, 200), Told(READY, 310)], "told at 200, when clusterA was out"),
        ([Told(A, 103), Told(READY, 310), Told(READY, 350)], "told twice, at 310 and 350"),
        ([Told(A, 103)], "all has healed, and no clusterReady was told"),
        (
            [Told(B, 103), Told(A, 103), Told(READY, 310)],
            "clusterB was told at 103, when it was not",
        ),
    ],
    ids=["hidden", "early", "late", "double", "ready early", "ready twice", "no ready", "other"],
)
def test_every_untruth_is_found(told, wrong):
    found = "\n".join(falsehoods([OUT], told, BOUNDS))
    assert wrong in found


def test_new_leader_may_join_an_outage_to_an_episode_without_its_ready():
    told = [Told(A, 103), Told(READY, 510)]
    outages = [OUT, Outage(A, 400, 500)]
    assert list(falsehoods(outages, told, BOUNDS, troubles=[390])) == []
    assert "from 400 for 100 s" in "\n".join(falsehoods(outages, told, BOUNDS, troubles=[350]))


def test_delay_runs_from_the_outage_to_its_own_event():
    told = [Told(A, 103), Told(READY, 310), Told(A, 401)]
    assert delays([OUT, Outage(A, 400, 500)], told, BOUNDS) == [3, 1]
