"""The program as wheels and images install it, and nothing beside it."""

import os
import re
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.written_stories import write


ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    """A folder with the content of a wheel built from these sources."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=60,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "packages")
    return folder / "packages"


def run_installed(installation: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "reporter.cli", *argv],
        cwd=installation.parent,
        env={**os.environ, "PYTHONPATH": str(installation)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_wheel_has_every_package_of_the_program_and_no_other(installation):
    source = {
        each.name for each in (ROOT / "reporter").iterdir() if (each / "__init__.py").exists()
    }
    built = {each.name for each in (installation / "reporter").iterdir() if each.is_dir()}
    assert built == source
    found = {each.name for each in installation.iterdir() if each.suffix != ".dist-info"}
    assert found == {"reporter"}


def test_wheel_has_every_file_of_every_pack(installation):
    packs = ROOT / "catalogue" / "packs"
    shipped = {file.relative_to(packs) for file in packs.rglob("*.yaml")}
    installed = installation / "reporter" / "catalogue" / "data" / "packs"
    assert {file.relative_to(installed) for file in installed.rglob("*.yaml")} == shipped
    assert {each.parts[0] for each in shipped} >= {"kaito", "kserve", "kuberay", "gateway-api"}


def test_the_wheel_installs_the_program_and_the_kubectl_plugin(installation):
    (file,) = installation.glob("*.dist-info/entry_points.txt")
    scripts = dict(line.split(" = ") for line in file.read_text().splitlines() if " = " in line)
    assert scripts.keys() == {
        "productionstack-status-reporter",
        "kubectl-productionstack_status",
        "kubectl_complete-productionstack_status",
    }
    for target in scripts.values():
        module, _, function = target.partition(":")
        assert callable(getattr(import_module(module), function))


@pytest.mark.parametrize("page", ["README.md", "docs/commands.md"])
def test_the_wheel_that_the_pages_install_has_this_name_and_the_extra(installation, page):
    (metadata,) = installation.glob("*.dist-info/METADATA")
    fields = [line.partition(": ")[::2] for line in metadata.read_text().splitlines()]
    version, extras = dict(fields)["Version"], {v for n, v in fields if n == "Provides-Extra"}
    (wheel,) = installation.parent.glob("*.whl")
    named = re.findall(r"pipx install '([^\[]+)\[(\w+)\]'", (ROOT / page).read_text())
    assert named == [(f"./{wheel.name.replace(version, 'X.Y.Z')}", "cel"), (".", "cel")]
    assert extras == {"cel"}


def test_wheel_has_every_file_of_the_status_page(installation):
    folder = Path("reporter/server/page")
    source = {each.relative_to(ROOT / folder) for each in (ROOT / folder).rglob("*.*")}
    assert Path("index.html") in source
    built = {
        each.relative_to(installation / folder) for each in (installation / folder).rglob("*.*")
    }
    assert built == source


def test_the_wheel_runs_stories(installation, tmp_path):
    story = write(tmp_path)
    ended = run_installed(installation, "test", str(story))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1 passed\n", "")


def test_other_commands_work_without_it(installation):
    ended = run_installed(installation, "check-config")
    assert (ended.returncode, ended.stderr) == (0, "")
    reader = "import reporter, reporter.app, reporter.cli.command_line; print(reporter.__file__)"
    loaded = subprocess.run(
        [sys.executable, "-P", "-c", reader],
        env={**os.environ, "PYTHONPATH": str(installation)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert Path(loaded.stdout.strip()).is_relative_to(installation)
