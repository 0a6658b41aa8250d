"""Subjects and phases of HealthEvents."""

import pytest

from reporter.kinds.api_names import NVSENTINEL_RESOURCE
from reporter.kinds.health_events import (
    HEALTH_EVENTS,
    subject_of,
    subject_text,
)
from reporter.kinds.nvsentinel import node_health_events
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.health_events import a_health_event, a_spec


@pytest.mark.parametrize(
    ("resource", "kind"),
    [
        (NVSENTINEL_RESOURCE, "HealthEventResource"),
        ("healthevents.nvsentinel.dgxc.nvidia.com", "HealthEvent"),
    ],
)
def test_kind_of_nvsentinel_follows_from_its_resource(resource: str, kind: str):
    found = node_health_events(resource, "stack")
    assert (found.group_resource, found.kind, found.namespace) == (resource, kind, "stack")
    assert found.label_selector == HEALTH_EVENTS.label_selector


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        (CLUSTER_SUBJECT, "cluster"),
        (Subject(Layer.MODELHARNESS, "cluster"), "cluster"),
        (Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen"), "team-a/qwen"),
        (Subject(Layer.MODELDEPLOYMENT, "team-a"), "team-a/*"),
    ],
    ids=str,
)
def test_subject_is_read_back_from_its_text(subject: Subject, text: str):
    assert subject_text(subject) == text
    assert subject_of(a_spec("x", subject)) == subject


@pytest.mark.parametrize(
    ("status", "phase"),
    [({}, "Active"), ({"phase": "Resolved"}, "Resolved"), ({"phase": "Odd"}, "Active")],
)
def test_phase_is_active_unless_it_says_resolved(status: dict, phase: str):
    assert a_health_event(**status).phase == phase
