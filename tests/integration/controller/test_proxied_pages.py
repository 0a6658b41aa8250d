"""The age of metrics pages that are read through the API server."""

import pytest

from reporter.cli.configuration import load_shipped_catalogue
from reporter.controller.inputs import Inputs
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kube.client import RestClient
from reporter.process.clock import Clock
from reporter.scrape.path import ScrapePath
from tests.integration.controller.test_changed_kinds import running_inputs
from tests.integration.kube.test_elector import api, server
from tests.support.loading_pods import a_loading_pod, a_model, a_team
from tests.support.settings import settings
from tests.support.stubs.api_servers import until


__all__ = ["api", "server"]


@pytest.mark.parametrize(
    ("mode", "pods", "age"), [("direct", 30, None), ("proxy", 10, None), ("proxy", 30, 30)]
)
async def test_pages_through_the_api_server_are_as_old_as_its_budget_makes_them(
    api: RestClient, mode: str, pods: int, age: int | None
):
    """Each takes a second of the budget of 60 a minute; the interval is 15 s."""
    flags = (f"--scrape-mode={mode}", "--scrape-interval-seconds=15")
    inputs = Inputs(
        settings(*flags), load_shipped_catalogue(), api, Clock(), count_scrape=lambda _: None
    )
    assert inputs.proxied_page_age() is None
    async with running_inputs(inputs):
        await until(lambda: inputs.store.snapshot().has_synced(PODS), within=60)
        inputs.store.upsert(NAMESPACES, a_team())
        inputs.store.upsert(INFERENCE_SETS, a_model())
        for number in range(pods):
            inputs.store.upsert(PODS, a_loading_pod(f"qwen-{number}-0", ip="127.0.7.1"))
        await until(lambda: ScrapePath(mode).value in inputs.report().pages.ages, within=60)
        assert inputs.proxied_page_age() == age
