"""All probes of the layer on the example stack's harness, as an API server returns it."""

import msgspec
import pytest

from devcluster.example import team
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.enums import Layer
from reporter.model.verdicts import Clear
from tests.support.builders import LONG_AGO, a_deployment, a_namespace
from tests.support.catalogue_fixture import entries_called_by_default
from tests.support.harness_builders import a_data_plane, a_harness_store, verdict_of


REASONS = [entry.reason for entry in entries_called_by_default(Layer.MODELHARNESS)]
BY_KIND = {kind.kind: kind.type for kind in DEFAULT_KINDS}


def decoded():
    return [
        msgspec.json.decode(msgspec.json.encode(manifest), type=BY_KIND[manifest["kind"]])
        for manifest in team.manifests(LONG_AGO)
        if manifest["kind"] in BY_KIND
    ]


@pytest.mark.parametrize("reason", REASONS)
def test_a_healthy_team_is_clear(reason):
    auth = a_namespace("llm-gateway-auth"), a_deployment("apikey-authz", "llm-gateway-auth")
    store = a_harness_store(*decoded(), a_data_plane(), *auth)
    assert isinstance(verdict_of(reason, store=store), Clear)


def test_the_filter_is_read_down_to_its_cluster():
    (made,) = [each for each in decoded() if each.metadata.name == "apikey-ext-authz"]
    assert made.spec.authorizes
    assert made.spec.clusters == (
        "outbound|9001||apikey-authz.llm-gateway-auth.svc.cluster.local",
    )
