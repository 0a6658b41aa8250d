"""The command lint."""

import shutil
from pathlib import Path

import pytest

from reporter.catalogue.loader import default_folder
from reporter.cli.commands import run_command
from tests.support.written_stories import STORY, write


ROOT = Path(__file__).parents[3]


def run(*argv: str) -> int:
    return run_command([str(each) for each in argv], {})


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


def test_lint_names_at_once_why_a_story_can_never_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    story = write(
        tmp_path,
        "why: It names nothing that there is.\n"
        "of: [clusterNothing]\n"
        "overlay: { reasons: { clusterX: { enabled: false } } }\n"
        "flags: { nosuchflag: 1, sources: kedo }\n"
        "given: { watch: { nothings: lost } }\n"
        "story:\n"
        "  - at: 1m\n"
        "    watch: { deployments: gone }\n"
        "announced: {}\n",
    )
    assert run("lint", str(story)) == 1
    lines = capsys.readouterr().out.splitlines()
    begins = [
        "2: of: unknown reason `clusterNothing`: ",
        "3: overlay: unknown reason `clusterX`: ",
        "4: flags: --nosuchflag: there is no such flag",
        "4: flags: --sources=kedo: must be a list",
        "5: watch: nothings is not watched; watched are ",
        "8: watch: `gone` is none of open, lost, forbidden, unserved",
    ]
    assert len(lines) == len(begins) + 1
    for line, begin in zip(lines, begins, strict=False):
        assert line.startswith(f"{story}:{begin}")


def test_lint_names_an_unknown_pack_of_a_story(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    story = write(tmp_path, STORY + "packs: [kserv]\n")
    assert run("lint", str(story)) == 1
    found = f"{story}:9: packs: there is no pack `kserv`: did you mean `kserve`?"
    assert found in capsys.readouterr().out.splitlines()


OWN_REASON = """\
add:
  - { reason: clusterOwn, layer: cluster, type: Warning, owner: user, rank: 900, probe: cel,
      parameters: { kind: Config, current: object.spec.ok == true },
      message: '{object}.', remedy: { default: Set it right. } }
kinds: [{ kind: Config, group: own.example, resource: configs }]
"""
OWN_STORY = """\
why: It is about what an overlay adds.
of: [clusterOwn]
story: [{ at: 1m, watch: { configs: lost } }]
announced: {}
"""


def test_lint_checks_a_story_with_the_overlays_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    story = write(tmp_path, OWN_STORY)
    own, other, refused = (tmp_path / name for name in ("own.yaml", "other.yaml", "refused.yaml"))
    own.write_text(OWN_REASON)
    other.write_text("reasons: { clusterBBRNotReady: { enabled: false } }\n")
    refused.write_text(OWN_REASON.replace("rank: 900", "rank: much"))
    assert run("lint", str(story), str(other), str(own)) == 0
    capsys.readouterr()
    assert run("lint", str(story), str(other)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2].partition(":")[0] for line in lines[:-1]] == ["of", "watch"]
    # What is wrong with the overlay is no problem of the story.
    assert run("lint", str(story), str(refused)) == 1
    assert str(story) not in capsys.readouterr().out


def test_lint_checks_a_story_with_the_pack_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "own").mkdir()
    story = write(tmp_path, OWN_STORY)
    reasons, kinds = OWN_REASON.replace("add:", "reasons:").split("kinds:")
    (tmp_path / "own" / "pack.yaml").write_text(f"{reasons}kinds:{kinds}")
    assert run("lint", str(story), str(tmp_path / "own")) == 0, capsys.readouterr().out


def test_lint_does_not_check_a_story_with_an_overlay_for_other_packs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    story = write(tmp_path, OWN_STORY + "packs: [kserve]\n")
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons: { inferencesetModelPodsNotReady: { enabled: false } }\n")
    assert run("lint", str(story), str(overlay)) == 1
    assert f"{story}:2: of: unknown reason `clusterOwn`" in capsys.readouterr().out


def test_lint_names_every_error_of_an_expression(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(OWN_REASON.replace("object.spec.ok == true", "foo == 1 || bar == 2"))
    assert run("lint", str(overlay)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"{overlay}:3:44: clusterOwn: parameters: current: undeclared")
    assert "'foo'" in lines[0]
    assert lines[1].startswith(f"{overlay}:3:56: clusterOwn: parameters: current: undeclared")
    assert "'bar'" in lines[1]
