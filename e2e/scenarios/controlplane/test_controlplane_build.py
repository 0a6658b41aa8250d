"""
A build of the control plane, all at once or by the tests that need a program. A stub stands in for Go.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.controlplane import assets, manifests, pins
from e2e.support.model_server import PROGRAM


ROOT = Path(__file__).parents[3]
NEEDED = "prometheus"
ERROR = "undefined: unix.TheCall"
STUB = """#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = -o ] && target=$2; shift; done
echo a part >"$target"
case $PWD in */{failing}) echo '{error}' >&2; exit 1 ;; esac
echo built with CGO_ENABLED=$CGO_ENABLED >"$target"
"""


ASK = "import sys; from e2e.controlplane import assets; print(assets.program(sys.argv[1]))"
KUBECTL = """#!/bin/sh
echo '{{"clientVersion": {{"gitVersion": "{version}"}}}}'
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache that has the core of the control plane."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    folder = pins.cache_folder()
    folder.mkdir(parents=True)
    for name in (*manifests.FILES, *(each.name for each in assets.CORE)):
        (folder / name).touch()
    return folder


@pytest.fixture
def stubs(tmp_path: Path) -> Path:
    """Return a folder for the programs of a PATH, with a Go that builds in a moment."""
    folder = tmp_path / "stubs"
    folder.mkdir()
    _write(folder / "go", STUB.format(failing="none", error=ERROR))
    return folder


def _write(path: Path, script: str) -> None:
    path.write_text(script)
    path.chmod(0o755)


def _start(stubs: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | {"PATH": f"{stubs}:/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_simulator_that_cannot_be_built_is_named_and_the_core_starts_without_it(
    cache: Path, stubs: Path
) -> None:
    _write(stubs / "go", STUB.format(failing="simulator", error=ERROR))
    building = _start(stubs, "-m", "e2e.controlplane", "--quiet")
    error = building.communicate()[1].partition("NOT ALL PROGRAMS OF THE CONTROL PLANE\n")[2]
    assert building.returncode == 1
    assert error.startswith(f"building {PROGRAM} failed, with the go.mod of ")
    assert ERROR in error
    assert "`make controlplane` builds the rest" in error
    assert not (cache / PROGRAM).exists()
    assert (cache / NEEDED).read_text() == "built with CGO_ENABLED=0\n"
    assert assets.find().manifests == cache
    asking = _start(stubs, "-c", ASK, PROGRAM)
    assert ERROR in asking.communicate()[1]
    assert asking.returncode == 1


def test_the_core_alone_is_built_without_the_programs_of_single_tests(
    cache: Path, stubs: Path
) -> None:
    (cache / "kwok").unlink()
    with pytest.raises(assets.AssetsMissing, match=r"^Missing .*: kwok\."):
        assets.find()
    building = _start(stubs, "-m", "e2e.controlplane", "--quiet", "--core")
    assert (building.communicate()[0], building.returncode) == ("", 0)
    assert assets.find().program("kwok") == str(cache / "kwok")
    assert not any((cache / each.name).exists() for each in assets.ON_DEMAND)


def test_a_program_that_several_tests_ask_for_at_once_is_built_once(
    cache: Path, stubs: Path
) -> None:
    asking = [_start(stubs, "-c", ASK, NEEDED) for _ in range(3)]
    ended = [each.communicate() for each in asking]
    assert [out for out, _ in ended] == [f"{cache / NEEDED}\n"] * 3
    assert "".join(error for _, error in ended).count(f"building {NEEDED},") == 1
    assert {each.name for each in cache.iterdir()} >= {NEEDED, ".lock"}


@pytest.mark.parametrize(("off", "taken"), [(0, True), (-3, False)])
def test_an_installed_kubectl_is_taken_if_it_is_of_the_version_of_the_server(
    cache: Path, stubs: Path, off: int, taken: bool
) -> None:
    major, minor, _ = pins.version("kubernetes", "k8s.io/kubernetes").split(".")
    version = f"{major}.{int(minor) + off}.0"
    _write(stubs / "kubectl", KUBECTL.format(version=version))
    found = _start(stubs, "-c", ASK, "kubectl").communicate()[0].strip()
    assert found == str((stubs if taken else cache) / "kubectl")


def test_kubelet_is_of_the_version_of_the_api_server() -> None:
    path = "k8s.io/kubernetes"
    assert pins.version("kubelet", path) == pins.version("kubernetes", path)
