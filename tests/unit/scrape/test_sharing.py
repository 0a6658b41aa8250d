"""Scrapes of several probes that share one page and one history."""

import pytest
from msgspec.structs import replace

from reporter.model.enums import Reason
from reporter.scrape.engine_recorder import EngineRecorder
from reporter.scrape.scrapes import share_histories
from tests.support.engines import HISTORY, scrape_of
from tests.support.loading_pods import REASON, SCRAPE


STALLED, QUEUE = Reason("inferencesetEngineStalled"), Reason("inferencesetKVCacheSaturated")


def test_probes_of_engines_share_one_history_and_others_have_their_own():
    stalled, queue = scrape_of(STALLED), scrape_of(QUEUE)
    shared = share_histories({STALLED: stalled, REASON: SCRAPE, QUEUE: queue})
    assert shared.keys() == {HISTORY, REASON}
    assert shared[REASON] is SCRAPE
    joined = shared[HISTORY]
    assert set(joined.families) == {*stalled.families, *queue.families}
    assert len(set(joined.families)) == len(joined.families)
    assert isinstance(joined.keep, EngineRecorder)
    assert max(each.seconds for each in joined.keep.spans) == 300
    assert joined.fingerprints == (*stalled.fingerprints, *queue.fingerprints)


def test_scrapes_of_other_pods_or_ports_cannot_share():
    stalled = scrape_of(STALLED)
    with pytest.raises(ValueError, match="cannot be joined"):
        share_histories({STALLED: stalled, QUEUE: replace(scrape_of(QUEUE), port=1)})


def test_each_page_matters_where_it_does_to_one_of_those_that_share():
    stalled, queue = scrape_of(STALLED), replace(scrape_of(QUEUE), fingerprints=())
    assert share_histories({STALLED: stalled, QUEUE: queue})[HISTORY].fingerprints == ()
