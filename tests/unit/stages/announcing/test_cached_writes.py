"""
What need not be thought over again is thought over when it changed all the same.
"""

from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.stages.announcing.schedule import CachedWrite, PublishContext
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay, involved_for


TEAM = Subject(Layer.MODELHARNESS, "team-a")


class CachingReplay(Replay):
    """
    Hands on what was decided, as a process does.
    """

    decided: dict[object, CachedWrite] | None = None

    @property
    def context(self) -> PublishContext:
        if self.decided is None:
            self.decided = {}
        voice, judged, catalogue, terms = (
            self.announcement_state,
            self.evaluation,
            self.catalogue,
            self.settings,
        )
        return PublishContext(voice, judged, catalogue, terms, involved_for, self.decided)


def test_a_source_without_a_rank_tells_whom_it_silences_as_soon_as_it_may():
    source = an_entry("odd", None, orthogonal=True)
    target = an_entry("harness", 2, layer=Layer.MODELHARNESS)
    catalogue = a_catalogue(source, target, rows=(a_suppression("odd", "harness"),))
    play = CachingReplay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, TEAM}))
    play.set_verdicts(an_active_verdict(a_key("odd"), a_trouble(is_out=True))).advance(65)
    assert play.new_writes == ["odd x1"]
    play.set_verdicts(an_active_verdict(a_key("harness", TEAM)))
    assert play.new_writes == ["odd x2"]
    assert "(suppressing downstream reasons: harness in 1 namespace(s))" in play.last_message
