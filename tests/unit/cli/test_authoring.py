"""The commands test, lint and docs as users give them."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from docs.generators.reasons import PACKS
from reporter.catalogue.loader import default_folder
from reporter.cli.command_line import run_command
from tests.support.written_stories import STORY, write


ROOT = Path(__file__).parents[3]


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


def test_a_story_that_fails_names_what_was_unknown_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    lost = "    watch: { deployments: forbidden }\n"
    file = write(tmp_path, STORY.replace("    change:", f"{lost}    change:"))
    assert run("test", str(file)) == 1
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("  Unknown meanwhile, so that nothing was announced or ended:")
    assert lines[at + 1].startswith("    1m clusterBBRNotReady of cluster: ")
    assert "forbidden" in lines[at + 1]
    assert run("test", str(file), "-o", "json") == 1
    (story,) = json.loads(capsys.readouterr().out)["stories"]
    assert story["unknown"] == [lines[at + 1].strip()]
    assert run("test", str(file), "-o", "junit") == 1
    assert "Unknown meanwhile" in capsys.readouterr().out


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


@pytest.mark.parametrize("pack", PACKS[1:])
def test_coverage_is_of_the_packs_that_the_stories_have_and_nothing_is_missing(
    pack: str, capsys: pytest.CaptureFixture[str]
):
    assert run("test", str(default_folder() / "packs" / pack / "stories"), "--coverage") == 0
    first, *rest = capsys.readouterr().out.splitlines()
    announced, _, total = first.partition(" of ")
    assert total == f"{announced} reasons are announced by a story."
    assert len(rest) == 2, "every code with a remedy is announced too"


def test_the_folder_of_a_pack_stands_for_its_stories(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = tmp_path / "gateway-api"
    shutil.copytree(default_folder() / "packs" / folder.name, folder)
    for story in (folder / "stories").glob("[!s]*.yaml"):
        story.unlink()
    assert run("test", str(folder / "stories")) == 0
    named = capsys.readouterr().out
    assert named == "2 passed\n"
    assert run("test", str(folder)) == 0
    assert capsys.readouterr().out == named


def test_coverage_names_codes_of_reasons_in_expressions(capsys: pytest.CaptureFixture[str]):
    story = default_folder() / "packs" / "gateway-api" / "stories" / "gateways.yaml"
    assert run("test", str(story), "--coverage") == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "gatewayNotProgrammed: AddressNotAssigned, NoResources" in lines
