"""A silence that is not plain in every part silences nothing."""

from datetime import UTC, datetime

import pytest

from reporter.evaluation.silencing import check_silence, parse_until
from reporter.model.enums import Layer, Reason
from reporter.model.silences import SilenceState, SilenceText
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.snapshot.subjects import Subjects
from tests.support.builders import HOUR, MINUTE, NOON, a_catalogue, an_entry
from tests.support.silences import a_silence


LATER = NOON + HOUR
CATALOGUE = a_catalogue(
    an_entry("clusterBBR", 20),
    an_entry("clusterOff", 30, enabled=False),
    an_entry("clusterMuted", 40, enabled=False),
    an_entry("modelharnessGateway", 10, layer=Layer.MODELHARNESS),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    an_entry("serviceNotReady", 10, layer=Layer.MODELDEPLOYMENT, subject_kind="InferenceService"),
    an_entry("gatewayOut", 10, layer=Layer.MODELHARNESS, subject_kind="Gateway"),
)
TEAM = {"namespace": "team-a"}
QWEN = {**TEAM, "inferenceset": "qwen"}
SUBJECTS = Subjects(
    frozenset(
        {
            CLUSTER_SUBJECT,
            Subject(Layer.MODELHARNESS, "team-a"),
            Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen"),
        }
    )
)


def checked(text: SilenceText, subjects: Subjects = SUBJECTS, unchecked: tuple[str, ...] = ()):
    return check_silence(text, CATALOGUE, subjects, unchecked=[*map(Reason, unchecked)], now=NOON)


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (a_silence("clusterBBR", until=LATER), "clusterBBR"),
        (a_silence("all", until=LATER), "all"),
        (a_silence("modelharnessGateway", until=LATER, **TEAM), "modelharnessGateway"),
        (a_silence("inferencesetPods", until=LATER, **TEAM), "inferencesetPods"),
        (a_silence("inferencesetPods", until=LATER, **QWEN), "inferencesetPods"),
        (a_silence("clusterBBR", "clusterOff", until=LATER), "clusterBBR,clusterOff"),
    ],
    ids=str,
)
def test_a_plain_silence_is_active(text, reasons):
    found = checked(text)
    assert (found.state, found.problem) == (SilenceState.ACTIVE, "")
    assert (found.until, found.reason_text) == (LATER, reasons)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (a_silence("clusterBBR", until=""), "`until` is missing"),
        (a_silence("clusterBBR", until="2026-05-01T14:00:00"), "a time with its zone"),
        (a_silence("clusterBBR", until="in an hour\x1b[2J"), "`until` is `in an hour?[2J`"),
        (a_silence("clusterBBR", until="2026-02-30"), "`until` is `2026-02-30`"),
        (a_silence(until=LATER), "`reasons` is missing"),
        (a_silence("clusterBRB", until=LATER), 'did you mean "clusterBBR"?'),
        (a_silence("", until=LATER), "unknown reason ``"),
        (a_silence("all", "clusterBBR", until=LATER), "`all` stands alone"),
        (a_silence("clusterReady", until=LATER), "announces recovery"),
        (a_silence("clusterBBR", until=LATER, **TEAM), "is of the layer cluster"),
        (a_silence("inferencesetPods", until=LATER), "is of the layer modeldeployment"),
        (a_silence("modelharnessGateway", until=LATER, **QWEN), "is of the layer modelharness"),
        (a_silence("inferencesetPods", until=LATER, inferenceset="qwen"), "has no `namespace`"),
        (a_silence("serviceNotReady", until=LATER, **QWEN), "name one as `InferenceService/NAME`"),
        (
            a_silence("inferencesetPods", until=LATER, namespace="x", inferenceset="Gateway/edge"),
            "name one as `NAME`",
        ),
        (SilenceText("x", problem="line 3: is not YAML"), "line 3: is not YAML"),
    ],
    ids=str,
)
def test_one_part_that_is_not_plain_makes_all_of_it_malformed(text, problem):
    found = checked(text)
    assert found.state is SilenceState.MALFORMED
    assert problem in found.problem
    assert found.until is None
    assert found.reason_text == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (a_silence("all", until=LATER, namespace="team-b"), "team-b is no workload namespace"),
        (
            a_silence("all", until=LATER, namespace="team-a", inferenceset="llama"),
            "there is no InferenceSet team-a/llama that is evaluated",
        ),
        (
            a_silence("all", until=LATER, namespace="team-a", inferenceset="RayService/x"),
            "there is no RayService team-a/x that is evaluated",
        ),
        (a_silence("clusterOff", until=LATER), "clusterOff is not evaluated"),
        (a_silence("clusterOff", "clusterMuted", until=LATER), "none is evaluated"),
    ],
    ids=str,
)
def test_a_silence_about_nothing_is_inapplicable(text, problem):
    found = checked(text)
    assert (found.state, found.problem) == (SilenceState.INAPPLICABLE, problem)


@pytest.mark.parametrize(
    ("reason", "name", "state"),
    [
        ("serviceNotReady", "", "active"),
        ("serviceNotReady", "InferenceService/qwen", "active"),
        ("inferencesetPods", "qwen", "inapplicable"),
        ("serviceNotReady", "InferenceService/llama", "inapplicable"),
        ("gatewayOut", "", "active"),
        ("gatewayOut", "Gateway/edge", "active"),
        ("all", "Gateway/edge", "active"),
        ("all", "Gateway/other", "inapplicable"),
    ],
)
def test_subjects_of_other_kinds_are_silenced_by_namespace_and_by_kind(reason, name, state):
    service = Subject(Layer.MODELDEPLOYMENT, "team-c", "InferenceService/qwen")
    gateway = Subject(Layer.MODELHARNESS, "team-c", "Gateway/edge")
    text = a_silence(reason, until=LATER, namespace="team-c", inferenceset=name)
    assert checked(text, Subjects(frozenset({service, gateway}))).state == state


def test_a_reason_that_checks_nothing_with_these_flags_is_inapplicable():
    assert (
        checked(a_silence("clusterBBR", until=LATER), unchecked=("clusterBBR",)).state
        == "inapplicable"
    )


def test_a_subject_that_may_exist_is_not_inapplicable():
    unseen = Subjects(unknown={Subject(Layer.MODELHARNESS): "namespaces not listed yet"})
    text = a_silence("modelharnessGateway", until=LATER, **TEAM)
    assert checked(text, unseen).state is SilenceState.ACTIVE


@pytest.mark.parametrize("until", [NOON, NOON - MINUTE])
def test_a_silence_ends_at_its_moment(until):
    assert checked(a_silence("clusterBBR", until=until)).state is SilenceState.EXPIRED


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-12-01T00:00:00Z", datetime(2026, 12, 1, tzinfo=UTC)),
        ("2026-12-01T00:00:00+02:00", datetime(2026, 11, 30, 22, tzinfo=UTC)),
        ("2026-12-01", datetime(2026, 12, 1, tzinfo=UTC)),
        ("20261201T063000Z", datetime(2026, 12, 1, 6, 30, tzinfo=UTC)),
        ("2026-12-01T00:00:00", None),
        ("2026-W49-2", None),
        ("2026-12-01T00:00:00Z ", None),
        ("٢٠٢٦-12-01", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-12:00", None),
    ],
)
def test_a_time_needs_its_zone(text, moment):
    assert parse_until(text) == moment


def test_texts_of_others_are_cleaned():
    found = checked(a_silence("all", until=LATER, why="see\x1b[31m https://x/y\n", by="a" * 999))
    assert found.why == "see"
    assert len(found.by.encode()) <= 200
