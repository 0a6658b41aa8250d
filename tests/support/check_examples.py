"""The example of docs/check-jobs.md: its scripts, as a Job would run them, and its manifests."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "check-jobs"
SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "smoke.sh": ("sh",),
    "smoke.py": (sys.executable, "-I"),
}
"""The scripts, each with its interpreter."""

RESULT = "adapter-result.json"
LONGEST = 60


def run_script(
    name: str, folder: Path, url: str, **environment: str | None
) -> "subprocess.CompletedProcess[str]":
    """
    Run a script of the example, which writes its result into *folder*; None unsets a variable.
    """
    wanted = {
        "PATH": os.environ["PATH"],
        "MODEL": "qwen",
        "MODEL_URL": url,
        "RESULTS_PATH": str(folder / RESULT),
        **environment,
    }
    given = {each: value for each, value in wanted.items() if value is not None}
    command = [*SCRIPTS[name], str(FOLDER / name)]
    return subprocess.run(
        command, env=given, capture_output=True, text=True, timeout=LONGEST, check=False
    )


def read_result(folder: Path) -> Any:
    """Return the result, which must be the only file that is left."""
    assert [each.name for each in folder.iterdir()] == [RESULT]
    return json.loads((folder / RESULT).read_text("utf-8"))


def manifests() -> list[Any]:
    return list(yaml.safe_load_all((FOLDER / "smoke.yaml").read_text("utf-8")))
