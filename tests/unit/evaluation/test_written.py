"""The silences on objects: annotations, or labels, never both."""

import msgspec
import pytest

from reporter.evaluation.silencing import written_silences
from reporter.kinds.core import NAMESPACES
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.resource_kind import SILENCE_KEY, SILENCE_PREFIX
from reporter.model.silences import SilenceFile, SilenceText
from tests.support.builders import a_store


UNTIL = "2026-12-01T00:00:00Z"


def decoded(kind, name, **meta):
    body = {"metadata": {"name": name, **meta}}
    return msgspec.json.decode(msgspec.json.encode(body), type=kind.type)


def prefixed(**fields: str) -> dict[str, str]:
    return {SILENCE_PREFIX + name: value for name, value in fields.items()}


def written(*objects, file: SilenceFile | None = None) -> list[SilenceText]:
    store = a_store()
    for kind, each in objects:
        store.upsert(kind, each)
    if file is not None:
        store.record_silence_file(file)
    return [*written_silences(store.snapshot())]


def test_annotations_of_a_namespace_are_a_silence():
    annotations = prefixed(until=UNTIL, reasons="a, b", why="moved", by="alice")
    team = decoded(NAMESPACES, "team-m", annotations={**annotations, "other": "x"})
    assert written((NAMESPACES, team)) == [
        SilenceText("Namespace team-m", "team-m", "", ("a", "b"), UNTIL, "moved", "alice")
    ]


def test_labels_of_an_inference_set_are_a_silence():
    labels = prefixed(until="20261201T000000Z", reasons="a.b")
    qwen = decoded(INFERENCE_SETS, "qwen", namespace="team-m", labels=labels)
    assert written((INFERENCE_SETS, qwen)) == [
        SilenceText("InferenceSet team-m/qwen", "team-m", "qwen", ("a", "b"), "20261201T000000Z")
    ]


def test_labels_and_annotations_together_are_refused():
    qwen = decoded(
        INFERENCE_SETS,
        "qwen",
        namespace="team-m",
        labels=prefixed(until="20261201T000000Z"),
        annotations=prefixed(reasons="a"),
    )
    (found,) = written((INFERENCE_SETS, qwen))
    assert "in labels and in annotations" in found.problem


@pytest.mark.parametrize("place", ["annotations", "labels"])
@pytest.mark.parametrize("kind", [NAMESPACES, INFERENCE_SETS], ids=lambda kind: kind.kind)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("reason", "`silence-reason` is unknown: did you mean `silence-reasons`?"),
        ("untill", "`silence-untill` is unknown: did you mean `silence-until`?"),
        (
            "inferenceset",
            "`silence-inferenceset` is unknown: known are until, reasons, why, by, about the object that has them",
        ),
    ],
)
def test_an_unknown_one_makes_the_silence_malformed(kind, place, name, expected):
    fields = prefixed(until=UNTIL, reasons="all", **{name: "x"})
    (found,) = written((kind, decoded(kind, "x", **{place: fields})))
    assert found.problem == expected
    assert found.reasons == ()
    alone = decoded(kind, "x", **{place: prefixed(**{name: "x"})})
    assert [each.problem for each in written((kind, alone))] == [expected]


def test_several_unknown_ones_are_all_named():
    team = decoded(NAMESPACES, "x", annotations=prefixed(untill=UNTIL, reason="all"))
    (found,) = written((NAMESPACES, team))
    assert [each.split(" ")[0] for each in found.problem.split("; ")] == [
        "`silence-reason`",
        "`silence-untill`",
    ]


def test_a_namespace_keeps_no_other_annotation():
    plain = decoded(NAMESPACES, "x", annotations={"seen": "1"})
    assert plain.metadata.annotations is None
    by = prefixed(by="alice")
    assert decoded(NAMESPACES, "x", annotations={"seen": "1", **by}).metadata.annotations == by


@pytest.mark.parametrize(
    "meta",
    [{}, {"annotations": None}, {"annotations": {"other": "x"}}, {"labels": {"other": "x"}}],
    ids=str,
)
@pytest.mark.parametrize("kind", [NAMESPACES, INFERENCE_SETS], ids=lambda kind: kind.kind)
def test_an_object_without_them_is_none(kind, meta):
    each = decoded(kind, "x", **meta)
    assert kind.index_keys(each) == ()
    assert written((kind, each)) == []


def test_an_object_with_them_is_indexed():
    each = decoded(NAMESPACES, "x", annotations=prefixed(by="alice"))
    assert NAMESPACES.index_keys(each) == (SILENCE_KEY,)


def test_another_annotation_of_a_namespace_changes_nothing():
    store = a_store()
    store.upsert(NAMESPACES, decoded(NAMESPACES, "x", annotations={"seen": "1"}))
    store.take_dirty()
    store.upsert(NAMESPACES, decoded(NAMESPACES, "x", annotations={"seen": "2"}))
    assert store.take_dirty() == frozenset()
    store.upsert(NAMESPACES, decoded(NAMESPACES, "x", annotations=prefixed(until=UNTIL)))
    assert store.take_dirty() != frozenset()


@pytest.mark.parametrize("kind", [NAMESPACES, INFERENCE_SETS], ids=lambda kind: kind.kind)
def test_an_object_whose_newest_version_cannot_be_decoded_silences_nothing(kind):
    store = a_store()
    store.upsert(kind, decoded(kind, "x", annotations=prefixed(until=UNTIL, reasons="a")))
    store.mark_undecodable(kind, "", "x")
    (found,) = written_silences(store.snapshot())
    assert "cannot be decoded" in found.problem
    store.upsert(kind, decoded(kind, "x", annotations=prefixed(until=UNTIL, reasons="a")))
    assert [each.problem for each in written_silences(store.snapshot())] == [""]


def test_a_file_that_cannot_be_read_is_shown():
    (found,) = written(file=SilenceFile("/s.yaml", problem="line 2: is not YAML"))
    assert (found.origin, found.problem) == ("/s.yaml", "line 2: is not YAML")
