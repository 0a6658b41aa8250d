"""Values that many objects share are kept in memory once."""

from datetime import UTC, datetime

import msgspec
import pytest

from reporter.kinds.core import NO_STATE, Pod
from reporter.kinds.gateway_api import HTTPRoute
from reporter.kinds.objects import MAX_SHARED_NAMES, Condition, Metadata, plain_labels


NOON = "2026-01-01T12:00:07Z"


def a_condition(time: str, reason: str = "QuotaExceeded") -> Condition:
    fields = {"type": "Ready", "status": "False", "reason": reason, "lastTransitionTime": time}
    return msgspec.json.decode(msgspec.json.encode(fields), type=Condition)


def test_equal_texts_and_times_are_one_object():
    one, other = a_condition(NOON), a_condition(NOON)
    assert one.reason is other.reason
    assert one.last_transition_time is other.last_transition_time


def test_times_are_shared_among_kinds():
    meta = {"name": "a", "creationTimestamp": NOON}
    pod = msgspec.convert({"metadata": meta, "status": {"startTime": NOON}}, Pod, strict=False)
    assert pod.metadata.creation_timestamp is pod.status.start_time


@pytest.mark.parametrize(
    "other",
    ["2026-01-01T13:08:20Z", "2026-01-02T12:00:07Z", "2026-01-01T12:00:07.5Z"],
)
def test_other_times_of_the_same_slot_stay_apart(other):
    times = [a_condition(each).last_transition_time for each in (NOON, other, NOON, other)]
    noon, different = datetime(2026, 1, 1, 12, 0, 7, tzinfo=UTC), datetime.fromisoformat(other)
    assert times == [noon, different, noon, different]


LABELS = {"app": "web", "tier": "", "zone": "a"}


def decoded_labels(labels: dict[str, str]):
    return msgspec.convert({"name": "a", "labels": labels}, Metadata).labels


def test_packed_labels_are_a_mapping_of_the_same_content():
    packed = decoded_labels(LABELS)
    assert dict(packed) == LABELS
    assert dict(packed.items()) == LABELS
    assert (list(packed), len(packed)) == (list(LABELS), 3)
    assert (list(packed.keys()), list(packed.values())) == (list(LABELS), list(LABELS.values()))
    assert packed == LABELS
    assert packed != {**LABELS, "zone": "b"}
    assert ("tier" in packed, "none" in packed) == (True, False)
    assert (packed["zone"], packed.get("tier"), packed.get("none"), packed.get("none", "b")) == (
        *("a", "", None),
        "b",
    )
    with pytest.raises(KeyError):
        packed["none"]


def test_packed_labels_differ_by_names_and_by_values():
    assert decoded_labels(LABELS) == decoded_labels({**LABELS})
    assert decoded_labels(LABELS) != decoded_labels({**LABELS, "zone": "b"})
    assert decoded_labels({"a": "1", "b": "2"}) != decoded_labels({"a": "1", "c": "2"})


def test_packed_labels_are_encoded_with_the_hook_alone():
    pod = msgspec.convert({"metadata": {"name": "a", "labels": LABELS}}, Pod)
    encoded = msgspec.to_builtins(pod, enc_hook=plain_labels)
    assert encoded["metadata"]["labels"] == LABELS
    with pytest.raises(TypeError, match="PackedLabels"):
        msgspec.to_builtins(pod)


def test_labels_of_the_same_names_share_the_names():
    one, other = decoded_labels(LABELS), decoded_labels({**LABELS, "zone": "b"})
    assert one.positions is other.positions
    assert one.texts[0] is other.texts[0]


def test_a_label_with_the_name_of_the_object_has_its_text():
    labels = {"app": "qwen", "statefulset.kubernetes.io/pod-name": "qwen-7rk2p-0"}
    text = msgspec.json.encode({"name": "qwen-7rk2p-0", "labels": labels})
    meta = msgspec.json.decode(text, type=Metadata)
    assert dict(meta.labels) == labels
    assert meta.labels["statefulset.kubernetes.io/pod-name"] is meta.name


def test_large_sets_of_names_are_not_kept_for_others():
    many = {f"label-{each}": "a" for each in range(MAX_SHARED_NAMES + 1)}
    one, other = decoded_labels(many), decoded_labels(many)
    assert dict(one) == many
    assert one == other
    assert one.positions is not other.positions


def test_a_copy_of_metadata_keeps_its_labels():
    meta = msgspec.convert({"name": "a", "labels": LABELS}, Metadata)
    assert msgspec.structs.replace(meta, name="b").labels is meta.labels
    assert decoded_labels({}) == {}
    assert Metadata(name="a").labels is None


def decoded_pod(**status: object) -> Pod:
    content = {"metadata": {"name": "a"}, "spec": {"nodeName": "gpu-1"}, "status": status}
    return msgspec.json.decode(msgspec.json.encode(content), type=Pod)


@pytest.mark.parametrize(
    ("type_", "status", "is_kept"),
    [
        ("Ready", "True", True),
        ("Ready", "False", True),
        ("DisruptionTarget", "True", True),
        ("PodScheduled", "False", True),
        ("PodScheduled", "Unknown", True),
        ("PodScheduled", "True", False),
        ("Initialized", "False", False),
    ],
)
def test_conditions_of_a_pod_that_nobody_reads_are_dropped(type_, status, is_kept):
    pod = decoded_pod(conditions=[{"type": type_, "status": status}])
    assert (pod.status.condition(type_) is not None) is is_kept


def test_a_pod_that_has_failed_keeps_the_time_when_it_was_scheduled():
    # It may be the newest time that tells when the pod ended.
    pod = decoded_pod(phase="Failed", conditions=[{"type": "PodScheduled", "status": "True"}])
    assert pod.status.condition("PodScheduled") is not None


def test_pods_share_the_state_before_a_restart_and_the_name_of_their_node():
    state = {"running": {"startedAt": NOON}}
    status = {"name": "vllm", "state": state, "lastState": {}}
    one, other = (decoded_pod(containerStatuses=[status], startTime=NOON) for _ in range(2))
    assert one.spec.node_name is other.spec.node_name
    (container,) = one.status.container_statuses or ()
    assert container.last_state is NO_STATE
    assert container.state.running is not None
    assert container.state.running.started_at is other.status.start_time


def test_an_earlier_end_of_a_container_is_kept():
    last = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    pod = decoded_pod(containerStatuses=[{"name": "vllm", "lastState": last}])
    (container,) = pod.status.container_statuses or ()
    assert container.last_state.terminated is not None
    assert container.last_state.terminated.reason == "OOMKilled"


def test_routes_of_one_gateway_share_the_reference_to_it():
    parent = {"name": "gateway", "namespace": "team-a"}
    status = {"parents": [{"parentRef": parent}]}
    content = {"metadata": {"name": "a"}, "spec": {"parentRefs": [parent]}, "status": status}
    one, other = (msgspec.convert(content, HTTPRoute, strict=False) for _ in range(2))
    assert one.spec.parent_refs is other.spec.parent_refs
    assert one.status.parents[0].parent_ref is other.spec.parent_refs[0]
