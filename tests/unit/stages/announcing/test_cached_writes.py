"""
Cached decisions about writes are made again when something they depend on changed.
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
    Hands the cache from one context to the next, as the controller does.
    """

    cache: dict[object, CachedWrite] | None = None

    @property
    def context(self) -> PublishContext:
        if self.cache is None:
            self.cache = {}
        return PublishContext(
            self.announcement_state,
            self.evaluation,
            self.catalogue,
            self.settings,
            involved_for,
            self.cache,
        )


def test_a_source_without_a_rank_names_what_it_suppresses_as_soon_as_it_may():
    source = an_entry("odd", None, orthogonal=True)
    target = an_entry("harness", 2, layer=Layer.MODELHARNESS)
    catalogue = a_catalogue(source, target, rows=(a_suppression("odd", "harness"),))
    replay = CachingReplay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, TEAM}))
    replay.set_verdicts(an_active_verdict(a_key("odd"), a_trouble(is_out=True))).advance(65)
    assert replay.new_writes == ["odd x1"]
    replay.set_verdicts(an_active_verdict(a_key("harness", TEAM)))
    assert replay.new_writes == ["odd x2"]
    assert "(suppressing downstream reasons: harness in 1 namespace(s))" in replay.last_message
