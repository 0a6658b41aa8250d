"""The kubectl plugin for krew: its manifest is valid, and krew installs a program that works."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.controlplane import assets
from e2e.release import krew
from e2e.release.krew import LAUNCHER, PLUGIN, PROGRAM
from e2e.release.workflow import ROOT, script_of


HOMEPAGE = "https://github.com/example/reporter"
KEYS: Mapping[str, set[str]] = {
    "": {"apiVersion", "kind", "metadata", "spec"},
    "metadata": {"name"},
    "spec": {"version", "shortDescription", "description", "caveats", "homepage", "platforms"},
    "platform": {"uri", "sha256", "selector", "bin"},
}
"""The keys of a manifest that are written (krew, pkg/index/types.go)."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel, the archive and the manifest, as `make krew` writes them."""
    folder = tmp_path_factory.mktemp("dist")
    words = (f"DIST={folder}", f"HOMEPAGE={HOMEPAGE}", f"BIN={Path(sys.executable).parent}")
    subprocess.run(
        ["make", "--silent", "krew", *words, "STAMP=Makefile"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=120,
    )
    return folder


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((folder / f"{PLUGIN}.yaml").read_text("utf-8"))
    return content


def test_the_manifest_keeps_the_rules_of_krew(built: Path) -> None:
    """See ValidatePlugin in krew, internal/index/validation/validate.go."""
    content = manifest(built)
    spec = content["spec"]
    (platform,) = spec["platforms"]
    assert content.keys() == KEYS[""]
    assert content["metadata"].keys() == KEYS["metadata"]
    assert spec.keys() == KEYS["spec"]
    assert platform.keys() == KEYS["platform"]
    assert content["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2"
    assert content["kind"] == "Plugin"
    assert re.fullmatch(r"[\w-]+", content["metadata"]["name"], re.ASCII)
    assert re.fullmatch(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", spec["version"])
    assert "\n" not in spec["shortDescription"]
    assert re.fullmatch("[a-f0-9]{64}", platform["sha256"])
    (selector,) = platform["selector"]["matchExpressions"]
    assert selector == {"key": "os", "operator": "In", "values": ["linux", "darwin"]}


def test_the_archive_is_that_of_the_manifest_with_the_program_in_it(built: Path) -> None:
    (platform,) = manifest(built)["spec"]["platforms"]
    archive = built / platform["uri"].rpartition("/")[2]
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == platform["sha256"]
    version = manifest(built)["spec"]["version"]
    assert platform["uri"] == f"{HOMEPAGE}/releases/download/{version}/{archive.name}"
    with tarfile.open(archive) as content:
        modes = {each.name: each.mode for each in content.getmembers()}
    (wheel,) = (each.name for each in built.glob("*.whl"))
    assert modes.keys() == {PROGRAM, wheel, "requirements.run.lock", "LICENSE"}
    assert modes[platform["bin"]] == krew.EXECUTABLE


def test_the_release_has_what_the_manifest_names() -> None:
    script = script_of("chart", "Build the wheel, and the kubectl plugin for krew")
    assert script.split() == ["make", "wheel", "krew"]
    released = script_of("chart", "Release with the section of the changelog")
    for each in ("dist/*.whl", f"dist/{PLUGIN}.tar.gz", f"dist/{PLUGIN}.yaml"):
        assert each in released


def test_an_older_python_is_refused_with_what_to_do(built: Path, tmp_path: Path) -> None:
    program = unpack(built, tmp_path)
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = run(program, "--version", PYTHON=str(old))
    assert (done.returncode, done.stdout) == (1, "")
    assert "Python 3.11 or newer is needed; name one with PYTHON=" in done.stderr


INSTALLING_PYTHON = """\
#!/bin/sh
[ "$1 $2" = "-m venv" ] || exit 0
mkdir -p "$3/bin"
cp "$0" "$3/bin/python"
printf '#!/bin/sh\\necho installed: "$@"\\n' > "$3/bin/kubectl-productionstack_status"
chmod +x "$3/bin/kubectl-productionstack_status"
"""
"""A Python that makes a virtual environment, into which pip installs at once."""


def test_it_installs_below_a_home_with_a_space(tmp_path: Path) -> None:
    folder = tmp_path / "Jane Doe"
    folder.mkdir()
    python = folder / "python"
    python.write_text(INSTALLING_PYTHON)
    python.chmod(0o755)
    done = run(Path(shutil.copy(LAUNCHER, folder)), "status", PYTHON=str(python))
    assert (done.returncode, done.stdout) == (0, "installed: status\n"), done.stderr


def unpack(built: Path, folder: Path) -> Path:
    with tarfile.open(built / f"{PLUGIN}.tar.gz") as content:
        content.extractall(folder, filter="data")
    return folder / PROGRAM


def run(program: Path | str, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *argv],
        env={**os.environ, "PYTHON": sys.executable, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.mark.controlplane
@pytest.mark.slow
def test_krew_finds_nothing_wrong_and_installs_a_plugin_that_kubectl_runs(
    built: Path, tmp_path: Path
) -> None:
    """krew is built with Go for this test alone; the packages come from the index of pip."""
    root = {"KREW_ROOT": str(tmp_path / "krew"), "HOME": str(tmp_path)}
    words = (f"--manifest={built / PLUGIN}.yaml", f"--archive={built / PLUGIN}.tar.gz")
    done = run(assets.program("krew"), "install", *words, **root)
    assert done.returncode == 0, done.stderr
    kubectl = assets.program("kubectl")
    path = f"{tmp_path / 'krew' / 'bin'}:{os.environ['PATH']}"
    first = run(kubectl, PLUGIN, "--version", PATH=path)
    assert first.returncode == 0, first.stderr
    assert "installing its packages, once" in first.stderr
    assert f"v{first.stdout.strip()}" == manifest(built)["spec"]["version"]
    again = run(kubectl, PLUGIN, "explain", "clusterBBRNotReady", PATH=path)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.startswith("Reason:        clusterBBRNotReady\n")
