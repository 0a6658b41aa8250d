"""All probes of the layer on the example stack's model, as an API server returns it."""

import msgspec
import pytest

from devcluster.example import team
from reporter.evaluation.registry import SPECS
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.enums import Layer
from reporter.model.verdicts import Active, Clear, Unknown
from tests.support.builders import LONG_AGO
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.model_builders import a_picker, a_set, a_team
from tests.support.model_verdicts import needs_metrics_page, verdict_of


REASONS = [
    entry.reason
    for entry in DEFAULT_CATALOGUE.entries.values()
    if entry.layer is Layer.MODELDEPLOYMENT
    and not entry.is_ready_reason
    and SPECS[entry.probe].is_called(())
]
"""
The reasons with a probe, also those that are off by default; without those that need a source.
"""
BY_KIND = {kind.kind: kind.type for kind in DEFAULT_KINDS}


def decoded() -> list:
    return [
        msgspec.json.decode(msgspec.json.encode(manifest), type=BY_KIND[manifest["kind"]])
        for manifest in team.manifests(LONG_AGO)
        if manifest["kind"] in BY_KIND
    ]


@pytest.mark.parametrize("reason", REASONS)
def test_a_healthy_model_is_clear(reason):
    objects = a_team(), a_picker(), *decoded()
    # A page that was not tried yet is not unavailable.
    is_page_needed = reason != "inferencesetMetricsUnavailable" and needs_metrics_page(
        reason, *objects
    )
    expected = Unknown if is_page_needed else Clear
    assert isinstance(verdict_of(reason, *objects), expected)


def test_a_second_replica_of_it_is_missed():
    rest = [each for each in decoded() if type(each) is not type(a_set())]
    assert isinstance(
        verdict_of("inferencesetModelPodsNotReady", a_team(), a_set(2), *rest), Active
    )
