"""
The documents of a dump: JSON, YAML, several in one file, folders, and files that cannot be read.
"""

import io
import sys
from pathlib import Path

import pytest

from reporter.kube.dump_documents import DumpDocument, UnreadableFile, read_documents
from reporter.settings.errors import ConfigurationError


def contents(path: Path | str) -> list[object]:
    return [each.content for each in read_documents(str(path)) if isinstance(each, DumpDocument)]


def problems(path: Path | str) -> list[str]:
    return [each.why for each in read_documents(str(path)) if isinstance(each, UnreadableFile)]


def a_file(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_one_json_document(tmp_path: Path):
    assert contents(a_file(tmp_path, "pods.json", '{"kind": "Pod"}')) == [{"kind": "Pod"}]


def test_several_yaml_documents_in_one_file(tmp_path: Path):
    path = a_file(tmp_path, "all.yaml", "kind: Pod\n---\nkind: Node\n---\n")
    assert contents(path) == [{"kind": "Pod"}, {"kind": "Node"}, None]


def test_times_in_yaml_stay_text_whether_quoted_or_not(tmp_path: Path):
    path = a_file(tmp_path, "a.yaml", "at: 2026-11-22T10:00:00Z\nday: 2026-11-22\n")
    assert contents(path) == [{"at": "2026-11-22T10:00:00Z", "day": "2026-11-22"}]


def test_the_output_of_cluster_info_dump_without_its_logs(tmp_path: Path):
    text = """\
{
    "kind": "NodeList"
}
{
    "kind": "PodList"
}
==== START logs for container vllm of pod team-a/qwen-0 ====
{
    "kind": "ConfigMapList"
}
==== END logs for container vllm of pod team-a/qwen-0 ====
{
    "kind": "EventList"
}
"""
    kinds = [{"kind": "NodeList"}, {"kind": "PodList"}, {"kind": "EventList"}]
    assert contents(a_file(tmp_path, "dump.json", text)) == kinds


def test_a_broken_document_hides_no_other(tmp_path: Path):
    path = a_file(tmp_path, "dump.json", '{\n  "kind": "A"\n}\n{\n  "kind": \n}\n{\n "kind": "C"')
    assert contents(path) == [{"kind": "A"}]
    assert len(problems(path)) == 2


def test_all_files_of_a_folder_but_logs_in_a_fixed_order(tmp_path: Path):
    a_file(tmp_path, "namespaces/team-b/core/pods.yaml", "kind: B")
    a_file(tmp_path, "namespaces/team-a/pods.json", '{"kind": "A"}')
    a_file(tmp_path, "nodes.yml", "kind: C")
    a_file(tmp_path, "namespaces/team-a/qwen-0/logs.txt", "kind: log")
    assert contents(tmp_path) == [{"kind": "A"}, {"kind": "B"}, {"kind": "C"}]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.yaml", "kind: ]\nmetadata:\n", "line 1 is not YAML: "),
        ("a.yaml", "kind: \x00\n", "it is not YAML: "),
        ("a.json", '{"kind": ]}', "it is not JSON: "),
        ("a.yaml", b"\xff\xfe\x00", "it is not UTF-8"),
        ("a.yaml", "a: &x [1]\nb: [*x, *x]", "it has YAML aliases"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_why(
    tmp_path: Path, name: str, text: str | bytes, why: str
):
    path = a_file(tmp_path, name, text)
    (problem,) = read_documents(str(path))
    assert isinstance(problem, UnreadableFile)
    assert problem.source == str(path)
    assert problem.why.startswith(why)


def test_a_file_without_permission_is_named(tmp_path: Path):
    a_file(tmp_path, "a.json", "{}")
    (tmp_path / "b.json").symlink_to(tmp_path / "nowhere.json")
    assert contents(tmp_path) == [{}]


def test_a_folder_without_such_files_is_refused_with_what_to_do(tmp_path: Path):
    a_file(tmp_path, "logs.txt", "")
    with pytest.raises(ConfigurationError, match="--output-directory"):
        list(read_documents(str(tmp_path)))


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="no such file or folder"):
        list(read_documents(str(tmp_path / "nowhere")))


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch):
    class Stream:
        buffer = io.BytesIO(b'\xef\xbb\xbf{"kind": "Pod"}')

    monkeypatch.setattr(sys, "stdin", Stream)
    assert contents("-") == [{"kind": "Pod"}]


def test_a_document_that_is_nested_too_deep_is_named(tmp_path: Path):
    file = tmp_path / "deep.yaml"
    file.write_text("[" * 100_000)
    (found,) = read_documents(str(file))
    assert isinstance(found, UnreadableFile)
    assert "it is nested deeper than 5000 levels" in found.why
