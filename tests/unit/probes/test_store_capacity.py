"""The verdict about episodes that have no place among the HealthEvents."""

import pytest

from reporter.kinds.health_events import StoreLimit
from reporter.model.verdicts import Active, Clear
from reporter.probes.probe import ProbeParameters
from reporter.probes.store_capacity import PROBE
from tests.support.builders import a_namespace, a_store
from tests.support.catalogue_fixture import a_probe_request
from tests.support.probe_verdicts import verdicts_of_request


REASON = "clusterHealthEventStoreFull"


def verdict(*, backend: str = "healthevents", **rejected: int):
    store = a_store(a_namespace("stack"))
    store.record_store_rejections({StoreLimit(name): each for name, each in rejected.items()})
    (found,) = verdicts_of_request(
        a_probe_request(REASON, **{"store": backend, "release-namespace": "stack"}), store
    )
    return found


def test_store_with_places_left_is_clear():
    assert isinstance(verdict(), Clear)


@pytest.mark.parametrize(
    ("rejected", "code", "text"),
    [
        (
            {"cluster": 3},
            "Full",
            "HealthEvents in stack are full: 3 announced episodes are not kept, --store-max=1000",
        ),
        (
            {"node": 1},
            "NodeFull",
            "HealthEvents in stack are full: 1 announced episode is not kept, --store-max-per-node=50",
        ),
    ],
)
def test_episodes_without_place_are_counted_by_their_limit(rejected, code: str, text: str):
    found = verdict(**rejected)
    assert isinstance(found, Active)
    (trouble,) = found.troubles
    assert trouble.cause.code == code
    fields = trouble.message_fields
    assert "{store} are full: {rejected} not kept, {limit}".format(**fields) == text
    assert (found.involved_object.name, found.involved_object.uid) == ("stack", "uid-stack")


def test_each_limit_is_a_trouble_of_its_own():
    found = verdict(cluster=1, node=2)
    assert isinstance(found, Active)
    assert len({each.cause.object for each in found.troubles}) == 2


@pytest.mark.parametrize(
    ("backend", "resource"),
    [
        ("healthevents", "healthevents.reporter.productionstack.kaito.sh"),
        ("nvsentinel", "healtheventresources.healthevents.dgxc.nvidia.com"),
    ],
)
def test_the_cause_is_the_resource_that_is_written(backend: str, resource: str):
    found = verdict(backend=backend, cluster=1)
    assert isinstance(found, Active)
    assert found.troubles[0].cause.object.resource == resource


@pytest.mark.parametrize(
    ("store", "what"),
    [("none", "set --store=healthevents"), ("healthevents", ""), ("nvsentinel", "")],
)
def test_the_capacity_of_the_store_is_not_checked_without_the_store(store: str, what: str):
    assert PROBE.spec.why_unchecked(ProbeParameters(), {"store": store}) == what
