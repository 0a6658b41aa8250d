"""Names and label values of Events."""

import re

import pytest
from msgspec.structs import replace

from reporter.kube.event_format import (
    event_name,
    health_event_name,
    label_value,
    node_event_name,
    recovery_name,
)
from reporter.model.enums import Layer, Reason
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from tests.unit.kube.event_records import (
    BBR,
    LABEL_VALUE,
    LONG_CRD,
    NOON,
    RELEASE,
    SECOND,
    a_record,
)


def test_the_name_of_a_long_crd_is_cut_and_its_hash_is_not():
    assert len(LONG_CRD) == 253
    name = event_name(a_record(involved=replace(RELEASE, name=LONG_CRD)))
    readable, _, digest = name.rpartition(".")
    assert LONG_CRD.startswith(readable)
    assert re.fullmatch(r"[0-9a-f]{16,}", digest)


def test_one_episode_has_one_name_and_the_next_another():
    first = a_record()
    assert event_name(first.rewrite("1/2", "d2", now=NOON + SECOND)) == event_name(first)
    assert event_name(a_record(first=NOON + SECOND)) != event_name(first)


@pytest.mark.parametrize(
    "other",
    [
        FindingKey(CLUSTER_SUBJECT, Reason("clusterKedaNotReady")),
        FindingKey(CLUSTER_SUBJECT, BBR.reason, item="gateways.gateway.networking.k8s.io"),
        FindingKey(Subject(Layer.MODELHARNESS), BBR.reason),
        FindingKey(Subject(Layer.CLUSTER, "a", "b"), BBR.reason),
        FindingKey(Subject(Layer.CLUSTER, "ab", ""), BBR.reason),
    ],
    ids=str,
)
def test_different_keys_have_different_names(other: FindingKey):
    assert event_name(a_record(key=other)) != event_name(a_record())


@pytest.mark.parametrize(
    "text", ["x" * 64, "a b", "-a", "a.", "é", "", "." * 70], ids=lambda text: text[:8]
)
def test_label_values_that_do_not_fit_are_cut_and_stay_distinct(text: str):
    assert LABEL_VALUE.fullmatch(label_value(text))
    assert label_value(text) != label_value(text + "!")


def test_a_health_event_has_the_name_of_its_event():
    assert health_event_name(a_record(), "") == event_name(a_record())


def test_a_health_event_of_a_node_has_one_of_its_own():
    names = {health_event_name(a_record(), node) for node in ("", "n1", "n2", "N" * 300)}
    assert len(names) == 4
    assert health_event_name(a_record(), "aks-gpu-7").startswith("aks-gpu-7.")
    assert all(len(name) <= 253 for name in names)
    later = a_record(first=NOON + SECOND)
    assert health_event_name(later, "n1") != health_event_name(a_record(), "n1")


def test_only_an_episode_on_a_node_has_an_object_of_nvsentinel():
    assert node_event_name(a_record(), "") == ""
    assert node_event_name(a_record(), "n1") == health_event_name(a_record(), "n1")


def test_recovery_has_a_name_of_its_own_beside_that_of_the_fault():
    names = [health_event_name(a_record(), node) for node in ("n1", "n1.example.com", "N" * 300)]
    recoveries = [recovery_name(name) for name in names]
    assert len({*names, *recoveries}) == 6
    assert recoveries[:2] == [f"{name}-recovered" for name in names[:2]]
    assert all(len(each) <= 253 for each in recoveries)
    assert recovery_name("0123456789abcdef") == "0123456789abcdef-recovered"
