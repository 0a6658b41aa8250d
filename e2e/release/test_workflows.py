"""The workflows are valid: syntax, expressions, contexts, and the inputs of the actions."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.controlplane import assets
from e2e.release.workflow import FOLDER


pytestmark = [pytest.mark.controlplane, pytest.mark.slow]
"""actionlint is built with Go, for these tests alone."""

WORKFLOWS = sorted(FOLDER.glob("*.yaml"))
PINNED = re.compile(r"@[0-9a-f]{40} # (v\d+)[\d.]*$", re.MULTILINE)


def problems(folder: Path) -> str:
    """Return what actionlint finds in the workflows of a folder, which is to be a repository."""
    files = [str(each.relative_to(folder)) for each in sorted(folder.rglob("*.yaml"))]
    assert files
    done = subprocess.run(
        [assets.program("actionlint"), "-no-color", "-oneline", *files],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """
    Return a repository with the workflows, whose actions are named by version.

    actionlint knows the inputs of well-known actions by version, and of none by commit.
    """
    (tmp_path / ".git").mkdir()
    target = tmp_path / ".github" / "workflows"
    target.mkdir(parents=True)
    for each in WORKFLOWS:
        shutil.copy(each, target)
        path = target / each.name
        path.write_text(PINNED.sub(r"@\1", path.read_text("utf-8")), "utf-8")
    return tmp_path


def test_workflows_and_the_inputs_of_their_actions_are_valid(copied: Path) -> None:
    assert problems(copied) == ""


@pytest.mark.parametrize(
    ("line", "wrong", "found"),
    [
        ("platforms: linux/amd64", "platform: linux/amd64", 'input "platform" is not defined'),
        ("steps.build.outputs.digest", "steps.built.outputs.digest", 'property "built" is not'),
        ("needs: image", "needs: images", '"images"'),
        ("packages: write", "package: write", '"package"'),
    ],
)
def test_a_fault_in_the_workflow_of_releases_is_found(
    copied: Path, line: str, wrong: str, found: str
) -> None:
    path = copied / ".github" / "workflows" / "release.yaml"
    text = path.read_text("utf-8")
    assert line in text
    path.write_text(text.replace(line, wrong), "utf-8")
    assert found in problems(copied)
