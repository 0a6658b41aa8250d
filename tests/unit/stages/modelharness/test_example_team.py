"""
The example stack as an API server returns it, seen by all probes of the layer.
"""

import msgspec
import pytest

from reporter.embedded import example_team
from reporter.model.kinds import KINDS
from reporter.model.verdicts import Clear
from reporter.model.words import Layer
from tests.builders import LONG_AGO, a_deployment, a_namespace
from tests.harness_builders import a_data_plane, a_harness_store, judged
from tests.shipped import CATALOGUE


REASONS = [entry.reason for entry in CATALOGUE.of(Layer.MODELHARNESS)]
BY_KIND = {kind.kind: kind.type for kind in KINDS}


def decoded():
    return [
        msgspec.json.decode(msgspec.json.encode(manifest), type=BY_KIND[manifest["kind"]])
        for manifest in example_team.manifests(LONG_AGO)
        if manifest["kind"] in BY_KIND
    ]


@pytest.mark.parametrize("reason", REASONS)
def test_a_healthy_team_is_clear(reason):
    auth = a_namespace("llm-gateway-auth"), a_deployment("apikey-authz", "llm-gateway-auth")
    store = a_harness_store(*decoded(), a_data_plane(), *auth)
    assert isinstance(judged(reason, store=store), Clear)


def test_all_seven_are_judged():
    assert len(REASONS) == 7


def test_the_filter_is_read_to_where_it_asks():
    (made,) = [each for each in decoded() if each.metadata.name == "apikey-ext-authz"]
    assert made.spec.authorizes
    assert made.spec.clusters == (
        "outbound|9001||apikey-authz.llm-gateway-auth.svc.cluster.local",
    )
