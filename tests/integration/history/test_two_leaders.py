"""
Two leaders at once, as after a lease that one of them has not yet given up: one object an episode.
"""

from collections import Counter

from devcluster.server import DevCluster
from reporter.kube.client import RestClient
from tests.integration.announcing.publisher_fixture import ISTIO
from tests.integration.history.store_fixture import running_store
from tests.integration.kube.test_elector import api, server
from tests.support.builders import an_active_verdict


__all__ = ["api", "server"]

SETTLED = 31


async def test_both_write_one_object_and_one_end(server: DevCluster, api: RestClient):
    async with (
        running_store(server, api) as one,
        running_store(server, api, clock=one.clock) as two,
    ):
        for each in (one, two):
            each.events.set_verdicts(an_active_verdict(ISTIO))
        await one.events.until(lambda: results(one, two).total() >= 2, within=30)
        assert results(one, two) == {"created": 1, "found": 1}
        assert one.phases() == ["clusterIstio Active"]
        for each in (one, two):
            each.listed()
            each.events.set_clear(ISTIO)
        one.clock.advance(SETTLED)
        for each in (one, two):
            each.events.run_pass()
        await one.until_phases("clusterIstio Resolved")
        await one.events.until(lambda: results(one, two).total() >= 4, within=30)
        assert results(one, two) == {"created": 1, "found": 1, "patched": 1, "conflict": 1}
        for each in (one, two):
            each.listed()
        assert one.phases() == ["clusterIstio Resolved"]


def results(*stores) -> Counter[str]:
    return sum((each.report.results for each in stores), Counter())
