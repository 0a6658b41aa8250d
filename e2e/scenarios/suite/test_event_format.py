"""The Events that the suite rejects, so that its success proves something."""

import copy

import pytest

from e2e.controlplane import Json
from e2e.suite.event_format import format_violations


CLEAN: Json = {
    "metadata": {
        "namespace": "kube-system",
        "labels": {
            "reporter.productionstack.kaito.sh/namespace": "team-a",
            "reporter.productionstack.kaito.sh/inferenceset": "qwen",
        },
    },
    "involvedObject": {"kind": "Namespace", "name": "team-a", "uid": "1"},
    "source": {"component": "productionstack-status-reporter"},
    "reportingComponent": "productionstack-status-reporter",
    "reportingInstance": "reporter-1",
    "action": "Evaluate",
    "type": "Warning",
    "reason": "inferencesetEPPNotReady",
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "firstTimestamp": "2026-01-01T00:00:00Z",
    "lastTimestamp": "2026-01-01T00:01:00Z",
    "count": 2,
    "series": {"count": 2, "lastObservedTime": "2026-01-01T00:01:00.000000Z"},
    "message": "InferenceSet team-a/qwen: endpoint picker is scaled to zero.",
}
MESSAGE = CLEAN["message"]
DIRTY: dict[str, tuple[Json, str]] = {
    "url": ({"message": f"{MESSAGE} See https://example.com/x"}, "a URL"),
    "token": ({"message": f"{MESSAGE} eyJhbGciOiJSUzI1NiJ9.e30.c2ln"}, "a token"),
    "password": ({"message": f"{MESSAGE} password=hunter2"}, "a password"),
    "newline": ({"message": f"{MESSAGE}\n"}, "a control character"),
    "time": ({"message": f"{MESSAGE} since 2026-01-01T00:00:00Z"}, "a timestamp"),
    "bytes": ({"message": MESSAGE + "é" * 490}, "1040 bytes"),
    "nobody": ({"message": "endpoint picker is scaled to zero."}, "'qwen' is not named"),
    "empty": ({"message": " "}, "the message is empty"),
    "type": ({"type": "Normal"}, "type is 'Normal'"),
    "source": ({"source": {"component": "someone"}}, "source.component is 'someone'"),
    "instance": ({"reportingInstance": ""}, "no reportingInstance"),
    "eventTime": ({"eventTime": "2026-01-01T00:00:00Z"}, "eventTime is"),
    "count": ({"count": 3}, "count 3, of the series 2"),
    "last": ({"lastTimestamp": "2026-01-01T00:02:00Z"}, "of the series 2026-01-01T00:01:00"),
    "unseen": ({"involvedObject": {"kind": "Namespace", "name": "team-a"}}, "has no uid"),
    "labels": ({"metadata": {"namespace": "kube-system"}}, "labels do not name the subject"),
}


def test_clean_event_is_not_objected_to() -> None:
    assert format_violations(CLEAN) == []


@pytest.mark.parametrize("name", DIRTY)
def test_dirty_event_is_objected_to(name: str) -> None:
    changes, objection = DIRTY[name]
    found = format_violations(copy.deepcopy(CLEAN) | changes)
    assert any(objection in each for each in found), found


def test_cluster_event_must_name_its_deployment() -> None:
    event = {**CLEAN, "reason": "clusterBBRNotReady", "message": "The router is out."}
    assert "'Deployment team-a/' is not named: The router is out." in format_violations(event)
