"""The lines of the command dump: written, read, cut off anywhere, and changed by hand."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from reporter.kinds.batch import CHECK_LABEL, JOBS
from reporter.kinds.core import PODS
from reporter.kinds.gateway_api import GATEWAYS
from reporter.kinds.istio import MESH_CONFIG_MAPS
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kube import stack_dump
from reporter.kube.dump import Dump, collect
from reporter.kube.dump_documents import DumpDocument, UnreadableFile, read_documents
from reporter.kube.stack_dump import (
    DumpedKind,
    DumpEnd,
    limits_of,
    render_begin,
    render_end,
    render_line,
)
from tests.unit.kube.test_dump import NOW, a_pod, pod_names


END = DumpEnd(
    NOW,
    (
        DumpedKind("pods", objects=2),
        DumpedKind("inferencesets.kaito.sh", unread="may not list inferencesets.kaito.sh"),
        DumpedKind("gateways.gateway.networking.k8s.io", not_served=True),
        DumpedKind("services", only_in="team-a"),
    ),
    groups=("gateway.networking.k8s.io", "kaito.sh"),
    failed_groups=("kaito.sh",),
    served={"workspaces.kaito.sh": ("v1beta1",)},
    namespaced={"workspaces.kaito.sh": True},
)
PODS_OF_IT = (a_pod("a"), a_pod("b", annotations={"note": "ü \x9b\u2028 😀"}))
WHOLE = render_begin("reporter 1.0") + b"".join(map(render_line, PODS_OF_IT)) + render_end(END)


def read(folder: Path, raw: bytes) -> Dump:
    path = folder / "stack.yaml"
    path.write_bytes(raw)
    return collect(read_documents(str(path)), now=NOW)


def test_what_is_written_is_read_again(tmp_path: Path):
    dump = read(tmp_path, WHOLE)
    assert (dump.problems, dump.ends) == ([], [END])
    assert pod_names(dump) == ["a", "b"]
    assert dump.objects["", "Pod"]["team-a", "b"].content == PODS_OF_IT[1]


def test_every_line_is_a_document_for_any_reader_of_yaml():
    begin, *pods, end = yaml.load_all(WHOLE, Loader=yaml.BaseLoader)
    assert (begin["kind"], end["kind"]) == ("StackDump", "StackDumpEnd")
    assert [each["metadata"]["name"] for each in pods] == ["a", "b"]
    assert pods[1]["annotations"] == {"note": "ü \x9b\u2028 😀"}


def test_what_another_program_has_formatted_is_read_as_well(tmp_path: Path):
    formatted = yaml.safe_dump_all(yaml.safe_load_all(WHOLE))
    dump = read(tmp_path, formatted.encode())
    assert (dump.problems, pod_names(dump)) == ([], ["a", "b"])
    assert dump.ends == [END]
    dump = read(
        tmp_path, formatted.partition("kind: StackDumpEnd")[0].rpartition("---")[0].encode()
    )
    assert [each.is_cut_off for each in dump.problems] == [True]


def test_nothing_that_a_terminal_interprets_is_written():
    assert all(char.isprintable() or char == "\n" for char in WHOLE.decode())


def test_a_dump_that_is_cut_off_anywhere_has_no_objects_and_names_its_last_line(tmp_path: Path):
    for length in range(1, len(WHOLE) - 1):
        dump = read(tmp_path, WHOLE[:length])
        (problem,) = dump.problems
        assert problem.is_cut_off, WHOLE[:length]
        assert dump.size == 0
        if length > len(render_begin("reporter 1.0")):
            last = WHOLE[:length].rstrip(b"\n").count(b"\n") + 1
            assert problem.why == f"it ends at line {last} before the end of the dump"


def test_a_line_that_is_no_document_is_named_and_hides_no_other(tmp_path: Path):
    lines = WHOLE.splitlines(keepends=True)
    dump = read(tmp_path, b"".join((lines[0], b"--- {]\n", b"{}\n", *lines[1:])))
    assert [each.why.partition(":")[0] for each in dump.problems] == [
        "line 2 is no document",
        "line 3 is no document",
    ]
    assert pod_names(dump) == ["a", "b"]


def test_an_end_of_another_form_is_none(tmp_path: Path):
    other = WHOLE.replace(b'"takenAt":"2026', b'"takenAt":"soon')
    dump = read(tmp_path, other)
    assert dump.ends == []
    assert "its end cannot be read" in dump.problems[-1].why
    assert dump.problems[0].is_cut_off


def test_a_kind_that_the_dump_has_in_part_answers_for_no_more():
    jobs = DumpedKind("jobs.batch", label_selector=CHECK_LABEL)
    mesh = DumpedKind("configmaps", *limits_of(MESH_CONFIG_MAPS))
    assert mesh.field_selector == "metadata.name=istio"
    end = DumpEnd(NOW, (jobs, mesh, DumpedKind("pods")))
    assert end.find(PODS) == DumpedKind("pods")
    assert end.find(JOBS) == jobs
    assert end.find(MESH_CONFIG_MAPS) == mesh
    assert DumpEnd(NOW, (DumpedKind("jobs.batch", label_selector="a=b"),)).find(JOBS) is None
    assert end.find(INFERENCE_SETS) is None


def test_a_group_that_was_not_discovered_is_not_known():
    crds = frozenset({"inferencesets.kaito.sh", GATEWAYS.group_resource, "scaledobjects.keda.sh"})
    found = END.discovery_of(crds)
    assert found.failed_groups == {"kaito.sh", "keda.sh"}
    assert found.served_versions == {"workspaces.kaito.sh": ("v1beta1",)}


def test_the_time_of_a_dump_has_a_zone(tmp_path: Path):
    end = render_end(DumpEnd(datetime(2026, 1, 1, tzinfo=UTC))).replace(b"00Z", b"00")
    (_, content), *_ = stack_dump.read_lines(end)
    documents = [DumpDocument("a", content)]
    assert "its end cannot be read" in collect(documents, now=NOW).problems[0].why


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.yaml", "", "it is empty"),
        ("a.yaml", "\n \n", "it is empty"),
        ("a.json", '{\n"kind": ', "it ends at line 2 in the middle of a document"),
        ("a.json", '{\n"kind": "Po', "it ends at line 2 in the middle of a document"),
        ("a.yaml", "kind: [\n\n", "it ends at line 1 in the middle of a document"),
        (
            "a.yaml",
            "apiVersion: v1\nitems:\n- kind: Pod\n",
            "it ends at line 3 without the kind of its list",
        ),
    ],
)
def test_what_kubectl_wrote_in_part_is_cut_off(tmp_path: Path, name: str, text: str, why: str):
    path = tmp_path / name
    path.write_text(text)
    (problem,) = read_documents(str(path))
    assert problem == UnreadableFile(str(path), why, is_cut_off=True)
