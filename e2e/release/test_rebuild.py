"""The images of released tags: which are built again, by what they are named, and their SBOMs."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from e2e.release.workflow import REBUILD, run_step


START = "Start the release of each tag whose image has an older base"
NAMES = "The time of the commit, and the tag that stays at this image"
SBOMS = "Keep the SBOMs for the release"
OLD, NEW = (f"sha256:{digit * 64}" for digit in "01")
BASE = "python:3.13-slim-trixie"
COMMIT_TIME = "1790000000"

GH = """\
#!/bin/sh
case "$1" in
  release) printf 'v1.1.0\\nv1.0.0\\n' ;;
  workflow) echo "$@" >> "$STARTED" ;;
esac
"""
"""A gh that knows two releases and writes down what it starts."""

DOCKER = """\
#!/bin/sh
[ -n "$ANSWERS" ] || exit 1
file="$ANSWERS/$(echo "$4$6" | tr -c 'a-zA-Z0-9.\\n' _)"
cat "$file"
"""
"""A docker whose registry answers what is in a file with the name of the image and of what is asked."""

LABELS = '{{ json (index .Image "linux/amd64") }}'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a repository with two releases, of one commit."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "Dockerfile").write_text(f"ARG BASE={BASE}@{OLD}\nARG BUILD_BASE=${{BASE}}\n")
    author = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com"}
    committer = {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}
    times = {
        "GIT_AUTHOR_DATE": f"@{COMMIT_TIME} +0000",
        "GIT_COMMITTER_DATE": f"@{COMMIT_TIME} +0000",
    }
    for words in ("init --quiet", "add .", "commit --quiet -m x", "tag v1.0.0", "tag v1.1.0"):
        subprocess.run(
            ["git", *words.split()],
            cwd=folder,
            env={**os.environ, **author, **committer, **times},
            check=True,
        )
    return folder


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """Return variables with which a step finds the programs above."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("gh", GH), ("docker", DOCKER)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (tmp_path / "answers").mkdir()
    return {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "ANSWERS": str(tmp_path / "answers"),
        "STARTED": str(tmp_path / "started"),
        "REGISTRY": "registry.example/team",
    }


def answer(programs: Mapping[str, str], image: str, asked: str, text: str) -> None:
    name = re.sub(r"[^a-zA-Z0-9.]", "_", f"{image}{asked}")
    (Path(programs["ANSWERS"]) / name).write_text(text)


def answer_about(programs: Mapping[str, str], version: str, digest: str) -> None:
    """Let the image of a version have this base."""
    labels = {"org.opencontainers.image.base.name": f"{BASE}@{digest}"}
    image = f"registry.example/team/productionstack-status-reporter:{version}"
    answer(programs, image, LABELS, json.dumps({"config": {"Labels": labels}}))


needs_jq = pytest.mark.skipif(
    shutil.which("jq") is None,
    reason="jq is not installed, so which tags are built again is not checked",
)


@needs_jq
def test_only_a_tag_whose_image_has_an_older_base_is_built_again(
    checkout: Path, tmp_path: Path, programs: dict[str, str]
) -> None:
    answer(programs, BASE, "{{ .Manifest.Digest }}", NEW)
    answer_about(programs, "1.1.0", NEW)
    answer_about(programs, "1.0.0", OLD)
    done = run_step("rebuild", START, checkout, tmp_path, REBUILD, **programs)
    assert done.code == 0, done.output
    started = Path(programs["STARTED"]).read_text().splitlines()
    assert started == [f"workflow run release.yaml --ref v1.0.0 --field base-digest={NEW}"]
    assert "v1.1.0 has the newest base" in done.output


@needs_jq
@pytest.mark.parametrize("known", ["base", "image"])
def test_a_registry_that_does_not_answer_fails_the_step(
    checkout: Path, tmp_path: Path, programs: dict[str, str], known: str
) -> None:
    if known == "base":
        answer(programs, BASE, "{{ .Manifest.Digest }}", NEW)
    else:
        answer_about(programs, "1.1.0", OLD)
    done = run_step("rebuild", START, checkout, tmp_path, REBUILD, **programs)
    assert done.code != 0
    assert not Path(programs["STARTED"]).exists()


def test_an_image_has_the_time_of_its_commit_and_a_tag_that_stays(
    checkout: Path, tmp_path: Path
) -> None:
    given = {"GITHUB_REF_NAME": "v1.1.0", "GITHUB_RUN_NUMBER": "42"}
    done = run_step("image", NAMES, checkout, tmp_path, **given)
    assert done.code == 0, done.output
    assert done.outputs["epoch"] == COMMIT_TIME
    assert re.fullmatch(r"1\.1\.0-20\d{6}\.42", done.outputs["fixed"])


@pytest.mark.parametrize(("arm64", "code"), [('{"SPDXID": "x"}', 0), ("null", 1)])
def test_a_release_keeps_the_sbom_of_each_architecture(
    tmp_path: Path, programs: dict[str, str], arm64: str, code: int
) -> None:
    for machine, text in (("amd64", '{"SPDXID": "y"}'), ("arm64", arm64)):
        asked = f'{{{{ json (index .SBOM "linux/{machine}").SPDX }}}}'
        answer(programs, "image@digest", asked, text)
    given = {**programs, "IMAGE": "image", "DIGEST": "digest"}
    done = run_step("image", SBOMS, tmp_path, tmp_path, **given)
    assert done.code == code, done.output
    kept = {path.name for path in tmp_path.glob("sbom-*.spdx.json")}
    assert kept == {"sbom-linux-amd64.spdx.json", "sbom-linux-arm64.spdx.json"}
