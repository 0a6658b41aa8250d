"""The programs that need no control plane, at their least size."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("program", "size"), [("passes", "--inferencesets=10"), ("cel", "--objects=10")]
)
def test_a_program_measures_each_row(program, size, tmp_path):
    rows = tmp_path / "rows.json"
    command = ["-m", f"e2e.bench.{program}", size, "--rounds=1", f"--json={rows}"]
    ended = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert rows.read_text(encoding="utf-8").count('"name"') >= 4, ended.stdout
