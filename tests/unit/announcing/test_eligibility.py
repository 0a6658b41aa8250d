"""Ready Events that are owed and true."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.model.enums import Emission
from reporter.model.verdicts import Paused, Unknown
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_ready_entry,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay
from tests.support.replay_builders import (
    BBR,
    ENTRIES,
    MODELS,
    PODS,
    ROUTE,
    all_of,
    keys,
    sets,
    stack_replay,
    team_replay,
)


def test_a_ready_that_is_not_owed_has_no_event_although_another_one_is():
    replay = stack_replay().set_verdicts(an_active_verdict(PODS))
    assert replay.context.compose_event(a_key("clusterReady"), now=replay.now) is None
    assert replay.context.pending_write(a_key("clusterReady"), now=replay.now) is None


def test_a_disabled_ready_is_not_written():
    entries = a_catalogue(*ENTRIES).entries
    ready = replace(a_ready_entry(), enabled=False)
    replay = Replay(Catalogue({**entries, ready.reason: ready}))
    replay.set_verdicts(an_active_verdict(BBR)).set_clear(BBR).advance(100)
    assert replay.new_writes == ["clusterBBR x1"]


def test_a_ready_that_was_read_back_is_due_after_the_settle_even_if_its_finding_settles_sooner():
    replay = Replay(a_catalogue(an_entry("clusterBBR", settle=timedelta(seconds=1))))
    replay.set_verdicts(an_active_verdict(BBR)).restart(back_after=5)
    replay.set_verdicts(an_active_verdict(BBR, a_trouble(code="Other"))).set_clear(BBR)
    assert replay.advance(29).new_writes == ["clusterBBR x1", "clusterBBR x2"]
    assert replay.announcement_state.episodes == {}
    assert replay.advance(1).new_writes == ["clusterReady x1"]


def test_the_ready_of_a_group_read_back_does_not_wait_for_what_is_merely_paused():
    *subjects, other = sets(13)
    replay = Replay(
        a_catalogue(*MODELS),
        EvaluationSettings(emission=Emission.ALL),
        subjects=frozenset({*subjects, other}),
    )
    replay.set_verdicts(*all_of(subjects)).restart(back_after=5)
    replay.set_verdicts(Paused(keys([other])[0]), *all_of(subjects, ROUTE.reason))
    assert len(replay.announcement_state.groups) == 2
    replay.set_clear(*keys(subjects), *keys(subjects, ROUTE.reason)).advance(40)
    assert replay.evaluation.paused == {other}
    assert replay.writes[-1].key.reason == "inferencesetReady"


@pytest.mark.parametrize("state", ["active", "unknown"])
def test_the_ready_of_a_group_read_back_waits_for_what_is_paused_and_in_trouble(state):
    *subjects, other = sets(13)
    (route,) = keys([other], ROUTE.reason)
    replay = team_replay(*subjects, other).set_verdicts(*all_of(subjects)).restart(back_after=5)
    replay.set_verdicts(
        Paused(keys([other])[0]),
        Unknown(route, "forbidden") if state == "unknown" else an_active_verdict(route),
    )
    replay.set_clear(*keys(subjects)).advance(40)
    assert "inferencesetReady" not in {record.key.reason for record in replay.writes}
    replay.set_clear(route).advance(40)
    assert "inferencesetReady" in {record.key.reason for record in replay.writes}
