"""Runs a module as on a machine where no program is installed but Python."""

import os
import subprocess
import sys
from pathlib import Path


ROOT = Path(__file__).parents[2]


def run_without_programs(
    folder: Path, *command: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m`` with *folder* as the only one on the PATH."""
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env={**os.environ, "PATH": str(folder), "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def run_one_test(folder: Path, test: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = ("pytest", "-n0", "-p", "no:cacheprovider", test)
    return run_without_programs(folder, *command, **environ)
