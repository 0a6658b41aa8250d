"""
The commands test, lint and docs as users give them.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from reporter.catalogue.loader import default_folder
from reporter.catalogue.publish.reasons import published_packs
from reporter.cli.commands import run_command
from tests.unit.stories.written import STORY, write


ROOT = Path(__file__).parents[4]


def run(*argv: str) -> int:
    return run_command([str(each) for each in argv], {})


def test_stories_that_pass_end_with_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run("test", str(write(tmp_path))) == 0
    assert capsys.readouterr().out == "1 passed\n"


def test_a_difference_ends_with_one_and_is_shown_as_a_diff(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write(tmp_path)
    other = write(tmp_path, STORY.replace("  1m: W", "  2m: W"), "other.yaml")
    assert run("test", str(tmp_path)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"FAILED {other}: A human's word needs no hold."
    assert lines[4].startswith("  -2m Warning clusterBBRNotReady")
    assert lines[-1] == "1 passed, 1 failed"


def test_a_story_that_cannot_be_read_ends_with_two_and_the_others_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write(tmp_path)
    bad = write(tmp_path, STORY.replace("why:", "wy:"), "bad.yaml")
    assert run("test", str(tmp_path)) == 2
    lines = capsys.readouterr().out.splitlines()
    assert f"{bad}:1: unknown key `wy`: did you mean `why`?" in lines
    assert lines[-1] == "1 passed, 2 problems"


def test_json_has_results_problems_and_coverage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = write(tmp_path, STORY.replace("  1m: W", "  2m: W"))
    assert run("test", str(tmp_path), "-o", "json", "--coverage") == 1
    document = json.loads(capsys.readouterr().out)
    (story,) = document["stories"]
    assert (story["name"], story["file"], story["passed"]) == ("router", str(file), False)
    assert story["differences"][0]["diff"].startswith("--- announced: expected\n")
    assert document["problems"] == []
    assert "clusterKedaNotReady" in document["coverage"]["reasonsWithoutStory"]


def test_junit_has_a_case_for_each_story_and_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write(tmp_path)
    write(tmp_path, "why: x\n", "bad.yaml")
    assert run("test", str(tmp_path), "--output=junit") == 2
    suite = ET.fromstring(capsys.readouterr().out.encode()).find("testsuite")
    assert suite is not None
    counts = [int(suite.get(each, "")) for each in ("tests", "failures", "errors")]
    assert counts == [4, 0, 3]


def test_an_overlay_that_is_refused_is_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write(tmp_path)
    overlay = tmp_path / "overlay.yml"
    overlay.write_text("reasons: { clusterX: {} }\n")
    assert run("test", str(tmp_path), "--catalogue-overlay", str(overlay)) == 2
    out = capsys.readouterr().out
    assert out.startswith(f"{overlay}:1: unknown reason `clusterX`")
    assert out.endswith("\n1 problem\n")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["test"], "name the files or folders of stories"),
        (["test", "x", "-o", "xml"], "--output=xml: must be one of text, json, junit"),
        (["test", "x", "--kaito-namespace=y"], "a story gives its own under `flags`"),
        (["test", "x", "--leader-elect"], "is a flag of run only"),
        (["lint"], "name the files or folders to check"),
        (["docs", "x"], "unexpected argument 'x'; docs takes none"),
        (["docs", "--catalogue-overlay=/none"], "/none:1: cannot be read"),
    ],
)
def test_a_command_line_that_is_refused_ends_with_two(
    argv: list[str], expected: str, capsys: pytest.CaptureFixture[str]
):
    assert run(*argv) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert expected in shown.err


@pytest.mark.parametrize("name", ["test", "lint", "docs", "check"])
def test_each_command_has_a_help_of_its_own_in_eighty_columns(
    name: str, capsys: pytest.CaptureFixture[str]
):
    assert run(name, "--help") == 0
    out = capsys.readouterr().out
    assert f" {name} " in out
    assert "Examples:" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_schema_of_a_story_is_printed(capsys: pytest.CaptureFixture[str]):
    assert run("test", "--schema") == 0
    published = (default_folder() / "story.schema.json").read_text("utf-8")
    assert capsys.readouterr().out == published


def test_lint_finds_nothing_in_what_is_shipped(capsys: pytest.CaptureFixture[str]):
    assert run("lint", str(default_folder()), str(ROOT / "tests" / "cases")) == 0
    assert capsys.readouterr().out.startswith("0 problems in ")


def test_lint_names_the_problems_of_overlays_stories_and_catalogues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "own").mkdir()
    files = {
        "overlay.yaml": "reasons:\n  clusterX: {}\n",
        "story.yaml": "story: []\n",
        "own/cluster.yaml": "reasons: [{ reason: clusterReady }]\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert run("lint", *(str(tmp_path / name) for name in files)) == 1
    out = capsys.readouterr().out
    assert f"{tmp_path}/overlay.yaml:2: unknown reason `clusterX`" in out
    assert f"{tmp_path}/story.yaml:1: `why` is missing" in out
    assert f"{tmp_path}/own/cluster.yaml:1: `reasons[0].layer` is missing" in out or (
        f"{tmp_path}/own/cluster.yaml:1: `layer` is missing" in out
    )


@pytest.mark.parametrize("name", ["test", "lint"])
def test_a_command_that_is_stopped_does_not_end_with_success(name: str, tmp_path: Path):
    for number in range(1000):
        (tmp_path / f"{number}.yaml").write_text("story: 1\n")
    command = [sys.executable, "-m", "reporter.cli", name, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    # It has more to write than a pipe holds, so it waits for its reader.
    assert process.stdout.read(1)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 143


def test_lint_checks_overlays_with_the_packs_that_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons: { inferenceservicePredictorNotReady: { settle: 5m } }\n")
    assert run("lint", str(overlay)) == 1
    assert "unknown reason `inferenceservicePredictorNotReady`" in capsys.readouterr().out
    assert run("lint", str(overlay), "--packs=kaito,kserve") == 0
    assert capsys.readouterr().out == "0 problems in 1 file\n"


def test_lint_checks_every_pack_of_a_catalogue(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    copy = tmp_path / "catalogue"
    shutil.copytree(default_folder(), copy)
    broken = copy / "packs" / "kuberay" / "cluster.yaml"
    broken.write_text(broken.read_text("utf-8").replace("rank: 310", "rank: 20"))
    assert run("lint", str(copy)) == 1
    out = capsys.readouterr().out
    assert f"{broken}:" in out
    assert "20" in out
    assert out.endswith("\n1 problem in 1 file\n")


@pytest.mark.parametrize("pack", published_packs(default_folder())[1:])
def test_coverage_is_of_the_packs_that_the_stories_have_and_nothing_is_missing(
    pack: str, capsys: pytest.CaptureFixture[str]
):
    assert run("test", str(default_folder() / "packs" / pack / "stories"), "--coverage") == 0
    first, *rest = capsys.readouterr().out.splitlines()
    announced, _, total = first.partition(" of ")
    assert total == f"{announced} reasons are announced by a story."
    assert len(rest) == 2, "every code with a remedy is announced too"


def test_the_folder_of_a_pack_stands_for_its_stories(capsys: pytest.CaptureFixture[str]):
    folder = default_folder() / "packs" / "gateway-api"
    assert run("test", str(folder / "stories")) == 0
    named = capsys.readouterr().out
    assert run("test", str(folder)) == 0
    assert capsys.readouterr().out == named


def test_coverage_names_codes_of_reasons_in_expressions(capsys: pytest.CaptureFixture[str]):
    story = default_folder() / "packs" / "gateway-api" / "stories" / "gateways.yaml"
    assert run("test", str(story), "--coverage") == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "gatewayNotProgrammed: AddressNotAssigned, NoResources" in lines


def test_docs_of_all_packs_are_those_of_the_repository(capsys: pytest.CaptureFixture[str]):
    assert run("docs", f"--packs={','.join(published_packs(default_folder()))}") == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "reasons.md").read_text("utf-8")


def test_docs_are_of_the_packs_that_are_named(capsys: pytest.CaptureFixture[str]):
    assert run("docs") == 0
    kaito = capsys.readouterr().out
    assert "\n## Layer modeldeployment: one InferenceSet\n" in kaito
    assert "inferenceservicePredictorNotReady" not in kaito
    assert run("docs", "--packs=kserve") == 0
    kserve = capsys.readouterr().out
    assert "\n### inferenceservicePredictorNotReady\n" in kserve
    assert "- `kind`: `InferenceService`\n- `current`: `" in kserve
    assert "clusterKaitoControllerNotReady" not in kserve
    assert run("docs", "--packs=kaito,kserve") == 0
    both = capsys.readouterr().out
    headings = [line for line in both.splitlines() if line.startswith("## ")]
    assert headings == [
        "## Pack kaito, layer cluster: the control plane of the stack",
        "## Pack kaito, layer modelharness: the Gateway of one workload namespace and its filters",
        "## Pack kaito, layer modeldeployment: one InferenceSet",
        "## Pack kserve, layer cluster: the control plane of the stack",
        "## Pack kserve, layer modeldeployment: one InferenceService or one LLMInferenceService",
        "## Beside the packs, layer cluster: the control plane of the stack",
    ]


def test_docs_of_an_overlay_have_its_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(
        "add:\n"
        "  - { reason: clusterDashboardNotReady, layer: cluster, type: Warning, owner: user,\n"
        "      rank: 90, probe: deployments, message: '{object} {state}{pods}.',\n"
        "      parameters: { components: [{ name: dashboard, namespace-flag: kaito-namespace }] },\n"
        "      remedy: { default: Restart it. } }\n"
    )
    code = run("docs", f"--catalogue-overlay={overlay}")
    shown = capsys.readouterr()
    assert (code, shown.err) == (0, "")
    assert "### clusterDashboardNotReady" in shown.out
    assert "- Message: `{object} {state}{pods}.`" in shown.out
    assert "- any other: Restart it." in shown.out
