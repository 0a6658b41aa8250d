"""The workflows of releases, whose shell steps are run as GitHub runs them."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
RELEASE = FOLDER / "release.yaml"
REBUILD = FOLDER / "rebuild.yaml"
SHELL = ("bash", "-e")
"""The shell of a step that names none. See "defaults.run.shell" in the syntax of workflows."""


@dataclass(frozen=True)
class StepResult:
    code: int
    output: str
    outputs: Mapping[str, str]
    """Values that the step wrote to GITHUB_OUTPUT."""


def script_of(job: str, name: str, workflow: Path = RELEASE) -> str:
    """Return the script of the one step with this name."""
    content: dict[str, Any] = yaml.safe_load(workflow.read_text("utf-8"))
    (found,) = [
        step["run"] for step in content["jobs"][job]["steps"] if step.get("name", "") == name
    ]
    return str(found)


def run_step(
    job: str, name: str, folder: Path, scratch: Path, workflow: Path = RELEASE, **env: str
) -> StepResult:
    """Run a step in a folder. *scratch*: for the files that GitHub gives it."""
    script, outputs = scratch / "script.sh", scratch / "outputs"
    script.write_text(script_of(job, name, workflow), "utf-8")
    outputs.touch()
    done = subprocess.run(
        [*SHELL, str(script)],
        cwd=folder,
        env={**os.environ, "GITHUB_OUTPUT": str(outputs), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = outputs.read_text("utf-8").splitlines()
    return StepResult(
        done.returncode, done.stdout, dict(line.split("=", 1) for line in lines if line)
    )
