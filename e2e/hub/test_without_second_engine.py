"""
The tests of the second engine on a machine that has none: skipped with what was not checked, or refused.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.controlplane import pins
from e2e.hub.parts import victoria_metrics


pytestmark = pytest.mark.controlplane

ROOT = Path(__file__).parents[2]
TESTS = "e2e/hub/test_second_engine.py"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a cache with the control plane and nothing else."""
    folder = pins.cache_folder()
    linked = tmp_path / folder.relative_to(folder.parents[2])
    linked.parent.mkdir(parents=True)
    linked.symlink_to(folder)
    return tmp_path


@pytest.mark.slow
def test_they_are_skipped_and_the_end_says_what_was_not_checked(cache: Path) -> None:
    done = _python("-m", "pytest", "-p", "no:cacheprovider", "-m", "", TESTS, cache=cache)
    assert done.returncode == 0, done.stdout
    assert "1 test(s) of the hub with VictoriaMetrics did NOT run" in done.stdout
    assert "were checked with Prometheus alone" in done.stdout
    assert victoria_metrics.VERSION in done.stdout
    assert "python -m e2e.hub.parts.victoria_metrics" in done.stdout


@pytest.mark.slow
def test_a_run_that_requires_it_fails_without(cache: Path) -> None:
    words = ("-m", "pytest", "-p", "no:cacheprovider", "-m", "", TESTS)
    done = _python(*words, cache=cache, SECOND_ENGINE_REQUIRED="1")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "SECOND_ENGINE_REQUIRED=1, but: The queries" in done.stderr + done.stdout


def test_the_command_that_builds_it_says_what_is_not_checked(tmp_path: Path) -> None:
    done = _python("-m", "e2e.hub.parts.victoria_metrics", "--quiet", cache=tmp_path)
    assert done.returncode == 1
    assert "NO SECOND ENGINE" in done.stderr
    assert "were checked with Prometheus alone" in done.stderr


def _python(*words: str, cache: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python with this cache, as on a machine that has no Go."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=kept | {"XDG_CACHE_HOME": str(cache), "PATH": "/nowhere"} | env,
        capture_output=True,
        text=True,
        check=False,
    )
