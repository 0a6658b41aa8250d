"""Engines whose KV cache is full."""

import pytest

from reporter.model.verdicts import Active, Clear, Unknown
from tests.support.engines import a_page, begins, verdict_of_pages


REASON = "inferencesetKVCacheSaturated"


def verdict(end=316, *, usage=0.96, waiting=2.0, moves=1, **changes):
    full = (
        (at, a_page(running=9, waiting=waiting, kv=usage, steps=9 + at * moves))
        for at in range(0, end, 15)
    )
    idle = a_page(running=0, waiting=0, kv=0.1, steps=1)
    return verdict_of_pages(REASON, {"qwen-7rk2p-0": [(-15, idle), *full]}, **changes)


def test_a_kv_cache_is_full_after_the_window():
    (trouble,) = verdict().troubles
    assert trouble.message_fields["state"] == (
        "has had a full KV cache for 5m (96% now): 9 requests running, 2 waiting"
    )


@pytest.mark.parametrize("changed", [{"waiting": 0}, {"moves": 0}, {"usage": 0.85}])
def test_a_kv_cache_is_not_full_if_one_thing_lacks(changed):
    assert isinstance(verdict(**changed), Clear)


@pytest.mark.parametrize("changed", [{"end": 300}, {"usage": 0.94}, {"usage": 0.86}])
def test_between_the_bounds_a_full_kv_cache_goes_on_and_none_begins(changed):
    found = verdict(**changed)
    assert isinstance(found, Active)
    assert not begins(found)


def test_the_threshold_is_a_parameter():
    assert begins(verdict(usage=0.8, min_usage=0.75))


def test_without_the_gauge_nothing_is_known():
    pages = [(at, a_page(running=9, waiting=2, steps=at)) for at in range(0, 600, 15)]
    assert isinstance(verdict_of_pages(REASON, {"qwen-7rk2p-0": pages}), Unknown)
