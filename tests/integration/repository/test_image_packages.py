"""
The program works with the packages of the image, from one of which unused modules are deleted.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.sample import one_in


ROOT = Path(__file__).parents[3]
DROP = ROOT / "e2e" / "image" / "drop_unused.py"
DROPPED = ("cel_expr_python.ext.ext_math",)
EVERYTHING = """
import importlib, pkgutil, sys, reporter
for each in pkgutil.walk_packages(reporter.__path__, "reporter."):
    if not each.name.endswith("__main__"):
        importlib.import_module(each.name)
print(sys.modules["aiohttp"].__file__)
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A folder with the locked packages, and of those from which something is dropped what the image has.
    """
    folder = tmp_path_factory.mktemp("packages")
    for path in _locked_paths():
        if path.name.partition("-")[0] in COPIED:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, folder / path.name, ignore=ignored)
        else:
            (folder / path.name).symlink_to(path)
    subprocess.run([sys.executable, str(DROP), str(folder)], check=True, capture_output=True)
    return folder


def run(packages: Path, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these packages alone: -S leaves out those that are installed."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("STATUS_REPORTER_", "KUBE"))}
    return subprocess.run(
        [sys.executable, "-S", *argv],
        cwd=packages,
        env={**clean, "PYTHONPATH": os.pathsep.join((str(packages), str(ROOT))), **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("module", DROPPED)
def test_what_is_dropped_cannot_be_imported(packages: Path, module: str):
    assert find_spec(module) is not None
    done = run(packages, "-c", f"import {module}")
    assert f"No module named '{module}'" in done.stderr


def test_what_has_no_importable_name_is_dropped(tmp_path: Path):
    kept = {"cel_expr_python", "cel_expr_python-0.1.3.dist-info"}
    for name in (*kept, "cel_expr_python/ext", "bazel-project/external"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    assert run(ROOT, str(DROP), str(tmp_path)).returncode == 0
    assert {each.name for each in tmp_path.iterdir()} == kept


def test_a_folder_without_that_package_is_refused(tmp_path: Path):
    done = run(ROOT, str(DROP), str(tmp_path))
    assert done.returncode == 1
    assert "has no cel_expr_python/ext" in done.stdout


def test_every_module_of_the_program_is_imported_without_it(packages: Path):
    done = run(packages, "-c", EVERYTHING)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()).is_relative_to(packages)


COPIED = ("cel_expr_python",)
PACKS = sorted(each.parent.name for each in (ROOT / "catalogue" / "packs").glob("*/stories"))
COMMANDS = {
    "version": (0, ""),
    "check-config": (0, ""),
    "completion bash": (0, ""),
    "explain clusterBBRNotReady": (0, ""),
    "status --schema": (0, ""),
    "run --help": (0, ""),
    "run": (2, "set --kubeconfig or KUBECONFIG"),
    "hub": (2, "--hub-query-url"),
    "status": (2, "set --kubeconfig or KUBECONFIG"),
    "wait cluster": (2, "set --kubeconfig or KUBECONFIG"),
    "job-status": (1, "JOB_NAME: required"),
}


@pytest.mark.parametrize("pack", one_in(len(PACKS), PACKS))
def test_expressions_of_a_pack_are_evaluated_without_it(packages: Path, pack: str):
    """Its stories are replayed: the CEL library compiles and evaluates each expression."""
    stories = ROOT / "catalogue" / "packs" / pack / "stories"
    done = run(packages, "-m", "reporter.cli", "test", str(stories), f"--packs={pack}")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert re.fullmatch(r"[1-9]\d* passed\n", done.stdout)


@pytest.mark.parametrize("words", one_in(4, COMMANDS))
def test_each_command_starts_without_it(packages: Path, words: str):
    code, text = COMMANDS[words]
    done = run(packages, "-m", "reporter.cli", *words.split(), HOME="/nowhere")
    assert (done.returncode, text in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr


def test_the_dockerfile_drops_it_and_brings_nothing_else_from_the_tests():
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    assert "drop_unused.py /packages" in dockerfile
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert [each for each in ignored if "e2e" in each] == [
        "!e2e/image/copy_system.py",
        "!e2e/image/drop_unused.py",
    ]


def _locked_paths() -> set[Path]:
    """Return the folders and modules of the locked packages, where they are installed."""
    lock = (ROOT / "requirements.run.lock").read_text("utf-8")
    found = [distribution(name) for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)]
    assert len(found) > 10
    return {
        Path(str(each.locate_file(file.parts[0])))
        for each in found
        for file in each.files or ()
        if file.parts[0] not in ("..", "__pycache__")
    }
