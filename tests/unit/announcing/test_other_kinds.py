"""
Subjects of other kinds than the plain one of their layer: messages, groups, labels and names.
"""

import json
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from reporter.announcing.grouping import GROUP_THRESHOLD
from reporter.cli.source_arguments import parse_target
from reporter.kinds.health_events import subject_of, subject_text
from reporter.kube.event_format import LABEL_PREFIX, decode_event, encode_event, event_labels
from reporter.kube.event_record import EventRecord
from reporter.model.enums import EventType, Layer, Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import InvolvedObject
from reporter.status.source import Target
from tests.support.builders import (
    NOON,
    a_catalogue,
    a_ready_entry,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay


MODELS, KIND = Layer.MODELDEPLOYMENT, "InferenceService"
REASON, READY = "inferenceserviceNotReady", "inferenceserviceReady"
LLAMA = Subject(MODELS, "team-a", f"{KIND}/llama")
ABOUT = {"layer": MODELS, "subject_kind": KIND, "object_kind": KIND}


def a_replay(*subjects: Subject) -> Replay:
    catalogue = a_catalogue(
        an_entry(
            REASON,
            message_template="{namespace}/{inferenceservice}: {object} {state}.",
            **ABOUT,
        ),
        replace(
            a_ready_entry(MODELS),
            reason=Reason(READY),
            message_template="{namespace}/{inferenceservice} is ready again.",
            **ABOUT,
        ),
    )
    return Replay(catalogue, subjects=frozenset(subjects))


def a_record(subject: Subject) -> EventRecord:
    return EventRecord(
        FindingKey(subject, Reason(REASON)),
        EventType.WARNING,
        InvolvedObject("v1", "Namespace", "team-a", "uid"),
        NOON,
        "text",
        "digest",
        1,
        NOON,
        NOON,
    )


def test_a_subject_of_another_kind_is_named_without_its_kind_and_gets_its_own_ready():
    replay = a_replay(LLAMA)
    key = FindingKey(LLAMA, Reason(REASON))
    replay.set_verdicts(an_active_verdict(key)).advance(120)
    assert replay.last_message.startswith("team-a/llama: ")
    replay.set_clear(key).advance(120)
    assert [r.key.reason for r in replay.writes][-1] == READY
    assert replay.last_message == "team-a/llama is ready again."


def test_many_of_a_kind_have_one_event_that_names_the_kind():
    many = [Subject(MODELS, "team-a", f"{KIND}/s{i:02}") for i in range(GROUP_THRESHOLD + 2)]
    keys = [FindingKey(each, Reason(REASON)) for each in many]
    replay = a_replay(*many)
    replay.set_verdicts(*map(an_active_verdict, keys)).advance(120)
    [event] = {record.key for record in replay.writes}
    assert event.subject == Subject(MODELS, "team-a", f"{KIND}/")
    assert replay.last_message.startswith("Namespace team-a: 12 InferenceServices (s00, s01, s02")
    replay.set_clear(*keys).advance(120)
    assert replay.last_message.endswith("are ready again.")
    assert replay.restart().new_writes, "and nothing more after a restart"
    assert replay.restart().new_writes == []


@pytest.mark.parametrize("subject", [LLAMA, Subject(MODELS, "team-a", f"{KIND}/")])
def test_an_event_of_another_kind_is_continued_after_a_restart(subject):
    encoded = encode_event(a_record(subject), instance="pod")
    assert decode_event(json.dumps(encoded).encode()).key.subject == subject


def test_labels_name_kind_and_object_and_for_inferencesets_what_they_named_before():
    labels = event_labels(a_record(LLAMA))
    assert labels[f"{LABEL_PREFIX}kind"] == KIND
    assert labels[f"{LABEL_PREFIX}name"] == "llama"
    assert f"{LABEL_PREFIX}inferenceset" not in labels
    plain = event_labels(a_record(Subject(MODELS, "team-a", "qwen")))
    assert plain[f"{LABEL_PREFIX}inferenceset"] == "qwen"
    assert f"{LABEL_PREFIX}kind" not in plain


@pytest.mark.parametrize(
    "subject",
    [
        LLAMA,
        Subject(MODELS, "team-a", f"{KIND}/"),
        Subject(Layer.MODELHARNESS, "team-a", "Gateway/web"),
        Subject(Layer.MODELHARNESS, "team-a"),
        Subject(MODELS, "team-a"),
    ],
)
def test_a_health_event_leads_back_to_its_subject(subject):
    spec = SimpleNamespace(layer=subject.layer, subject=subject_text(subject))
    assert subject_of(spec) == subject


@pytest.mark.parametrize(
    ("text", "namespace", "target"),
    [
        ("team-a/InferenceService/llama", "", Target("team-a", "InferenceService/llama")),
        ("InferenceService/llama", "team-a", Target("team-a", "InferenceService/llama")),
        ("team-a/llama", "", Target("team-a", "llama")),
        ("llama", "team-a", Target("team-a", "llama")),
    ],
)
def test_a_subject_is_asked_for_by_kind_and_name(text, namespace, target):
    assert parse_target([text], namespace) == target
