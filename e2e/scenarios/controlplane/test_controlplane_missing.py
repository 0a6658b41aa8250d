"""The message on a machine that has no control plane to run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.controlplane import assets


ROOT = Path(__file__).parents[3]
_ONE_TEST = "e2e/scenarios/controlplane/test_controlplane.py::test_crd_is_removed_and_served_again"


def test_programs_of_kubebuilder_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    for name in assets.ENVTEST:
        (tmp_path / name).touch()
    with pytest.raises(assets.AssetsMissing) as missing:
        assets.find()
    text = str(missing.value).splitlines()[0]
    assert "kwok" in text
    assert "kube-controller-manager" in text
    assert not any(name in text for name in assets.ENVTEST)
    assert assets.program("kubectl") == str(tmp_path / "kubectl")


def test_error_without_binaries_names_what_is_missing_and_how_to_get_it(tmp_path: Path) -> None:
    done = _python("-m", "e2e.controlplane", "--quiet", cache=tmp_path)
    assert done.returncode == 1
    for text in ("NO REAL CONTROL PLANE", "kube-apiserver", "Install Go", "KUBEBUILDER_ASSETS"):
        assert text in done.stderr


def test_a_program_that_one_test_needs_and_nobody_can_build_fails_that_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    for name in ("prometheus", "actionlint"):
        with pytest.raises(assets.AssetsMissing, match=f": {name}\\.\nInstall Go"):
            assets.program(name)


def test_skipped_tests_are_reported_loudly(tmp_path: Path) -> None:
    done = _pytest_here(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "1 test(s) on the real control plane did NOT run" in done.stdout
    assert "make controlplane" in done.stdout


def test_skipped_tests_are_an_error_where_they_are_required(tmp_path: Path) -> None:
    done = _pytest_here(tmp_path, CONTROLPLANE_REQUIRED="1")
    assert done.returncode != 0
    assert "CONTROLPLANE_REQUIRED=1" in done.stderr


def _pytest_here(cache: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return _python(
        *("-m", "pytest", "-p", "no:cacheprovider", _ONE_TEST),
        cache=cache,
        **env,
    )


def _python(*arguments: str, cache: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python as on a machine that has neither a cache nor Go."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=kept | {"XDG_CACHE_HOME": str(cache), "PATH": "/nowhere"} | env,
        capture_output=True,
        text=True,
        check=False,
    )
