"""
A build of the control plane in which one program fails. A stub stands in for Go.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.controlplane import assets, manifests, pins
from e2e.support.model_server import PROGRAM


ROOT = Path(__file__).parents[3]
LAST = "promtool"
ERROR = "undefined: unix.TheCall"
STUB = """#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = -o ] && target=$2; shift; done
echo a part >"$target"
case $PWD in */{failing}) echo '{error}' >&2; exit 1 ;; esac
echo built with CGO_ENABLED=$CGO_ENABLED >"$target"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """
    Return a cache in which the simulator and a program after it are missing.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    folder = pins.cache_folder()
    folder.mkdir(parents=True)
    for name in {*manifests.FILES, *(each.name for each in assets.PROGRAMS)} - {PROGRAM, LAST}:
        (folder / name).touch()
    return folder


def _build(stubs: Path, *, failing: str = "none") -> subprocess.CompletedProcess[str]:
    """
    Run the command of `make controlplane` with a Go that fails in the folder of this module.
    """
    stubs.mkdir(exist_ok=True)
    (stubs / "go").write_text(STUB.format(failing=failing, error=ERROR))
    (stubs / "go").chmod(0o755)
    return subprocess.run(
        [sys.executable, "-m", "e2e.controlplane", "--quiet"],
        cwd=ROOT,
        env=os.environ | {"PATH": str(stubs)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_simulator_that_cannot_be_built_is_named_and_no_control_plane_lacks_it(
    tmp_path: Path, cache: Path
) -> None:
    before = {file.name for file in cache.iterdir()}
    done = _build(tmp_path / "stubs", failing="simulator")
    assert done.returncode == 1
    error = done.stderr.partition("NO REAL CONTROL PLANE\n")[2]
    assert error.startswith(f"building {PROGRAM} failed, with the go.mod of ")
    assert ERROR in error
    assert "`make controlplane` builds the rest" in error
    assert {file.name for file in cache.iterdir()} == before | {".lock"}
    with pytest.raises(assets.AssetsMissing, match=f"^Missing .*: {PROGRAM}, {LAST}\\."):
        assets.find()


def test_the_next_build_makes_only_what_is_missing(tmp_path: Path, cache: Path) -> None:
    _build(tmp_path / "stubs", failing="simulator")
    done = _build(tmp_path / "stubs")
    assert done.returncode == 0, done.stderr
    found = assets.find()
    built = {name for name, path in found.programs.items() if path.read_text()}
    assert built == {PROGRAM, LAST}
    assert Path(found.program(PROGRAM)).read_text() == "built with CGO_ENABLED=0\n"
