"""The command lint."""

import shutil
from pathlib import Path

import pytest

from reporter.catalogue.loader import default_folder
from reporter.cli.command_line import run_command
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


A_CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: configs.own.example }
spec:
  group: own.example
  names: { kind: Config, plural: configs }
  versions:
    - name: v1
      served: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                ok: { type: boolean }
                ports: { type: array, items: { type: object, properties: { number: { type: integer } } } }
"""


def own_reason(current: str, **more: str) -> str:
    """The overlay of a reason with these expressions, each on a line of its own."""
    lines = [f"      {key}: {text}\n" for key, text in ({"current": current} | more).items()]
    return (
        "add:\n  - reason: clusterOwn\n    layer: cluster\n    type: Warning\n    owner: user\n"
        "    rank: 900\n    probe: cel\n    message: '{object}.'\n    remedy: { default: Set it. }\n"
        f"    parameters:\n      kind: Config\n{''.join(lines)}"
        "kinds: [{ kind: Config, group: own.example, resource: configs }]\n"
    )


def test_lint_finds_every_misspelled_field_by_the_crd(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    overlay, crds = tmp_path / "overlay.yaml", tmp_path / "crds.yaml"
    crds.write_text(A_CRD)
    overlay.write_text(
        own_reason(
            "object.spec.okay && object.metadata.labels.x == 'y' && object.metadata.nam != ''",
            failed="object.spec.ports.exists(p, p.nummber == 1 && p.number == 2)",
            text="string(object.spec.other.deeper) + object.kind",
        )
    )
    assert run("lint", str(overlay), f"--crds={crds}") == 1
    lines = capsys.readouterr().out.splitlines()
    expected = [
        "12:28: current: object.spec.okay: did you mean `ok`?",
        "12:87: current: object.metadata.nam: did you mean `name`?",
        "13:45: failed: object.spec.ports[].nummber: did you mean `number`?",
        "14:32: text: object.spec.other: known are ok, ports",
    ]
    found = [
        line.removeprefix(f"{overlay}:")
        .replace("clusterOwn: parameters: ", "")
        .replace("by its CRD there is no field ", "")
        for line in lines
    ]
    assert found == [*expected, "4 problems in 1 file"]
    assert run("lint", str(overlay)) == 0


def test_lint_says_which_kinds_have_no_crd(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    overlay, crds = tmp_path / "overlay.yaml", tmp_path / "crds.yaml"
    crds.write_text(A_CRD.replace("own.example", "other.example"))
    overlay.write_text(own_reason("object.spec.okay"))
    assert run("lint", str(overlay), f"--crds={crds}") == 0
    found = capsys.readouterr()
    assert found.out == "0 problems in 1 file\n"
    assert f"fields of configs.own.example are not checked: --crds={crds} has no CRD" in found.err


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "no such file"),
        ("a: 1\n", "has no CustomResourceDefinition"),
        ("a: [", "ends at line 1"),
    ],
)
def test_lint_refuses_crds_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, expected: str
):
    overlay, crds = tmp_path / "overlay.yaml", tmp_path / "crds.yaml"
    overlay.write_text(own_reason("object.spec.ok"))
    if content is not None:
        crds.write_text(content)
    assert run("lint", str(overlay), f"--crds={crds}") == 2
    assert expected in capsys.readouterr().err


def test_a_wrong_key_hides_neither_expressions_nor_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    overlay = tmp_path / "overlay.yaml"
    text = own_reason("object.spec.ok && foo", failde="object.spec.ok")
    overlay.write_text(text.replace("layer: cluster", "layer: clusters"))
    story = write(
        tmp_path,
        "why: Several things are wrong.\nof: [clusterNope]\nstorry: []\n"
        "story: [{ at: 1m, wat: x, watch: { deployments: gone } }]\nannounced: { 1x: foo }\n",
    )
    assert run("lint", str(overlay)) == 1
    out = capsys.readouterr().out
    assert "`layer` is `clusters`" in out
    assert "unknown key `failde`: did you mean `failed`?" in out
    assert "undeclared reference to 'foo'" in out
    assert run("lint", str(story)) == 1
    out = capsys.readouterr().out
    assert "unknown key `storry`" in out
    assert "unknown key `story[0].wat`" in out
    assert "of: unknown reason `clusterNope`" in out
    assert "watch: `gone` is none of" in out
    assert "announced: `1x`" in out


def test_a_kind_that_is_declared_wrongly_is_no_unknown_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(own_reason("object.spec.ok").replace("group:", "groop:"))
    assert run("lint", str(overlay)) == 1
    out = capsys.readouterr().out
    assert "unknown key `kinds[0].groop`" in out
    assert "unknown kind" not in out
