"""The content of the image: nothing that nobody needs, and all that the program needs."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from e2e.image import BASE, IMAGE, base
from e2e.image.container import RuncContainer
from e2e.image.drop_unused import USED_EXTENSIONS
from e2e.image.storage import Storage


ROOT = base.DOCKERFILE.parent
MAX_SIZE = 150e6
"""Bytes of the image."""

UNCHECKED_HASH = 0b01
"""Flags of bytecode that is not compared with its source; see PEP 552."""

UNUSED_PACKAGES = """
import importlib, json, pkgutil, sys
from pathlib import Path
from importlib.metadata import packages_distributions, distributions
import reporter, cel_expr_python.cel
for each in pkgutil.walk_packages(reporter.__path__, "reporter."):
    if not each.name.endswith("__main__"):
        importlib.import_module(each.name)
imported = {name.partition(".")[0] for name in sys.modules}
owners = packages_distributions()
ALLOWED = {"__pycache__", "_yaml", "attrs"} # the last two: second names of yaml and attr, of a few kB
FOUND = list(distributions(path=["/packages"]))
used = {owner for name in imported for owner in owners.get(name, ())}
names = {each.name.partition(".")[0] for each in Path("/packages").iterdir() if each.suffix != ".dist-info"}
print(json.dumps([
    sorted({each.name for each in FOUND} - used) + sorted(names - imported - ALLOWED),
    sorted(f"{each.name}=={each.version}".lower().replace("_", "-") for each in FOUND),
]))
"""

pytestmark = pytest.mark.slow


def test_it_has_labels_and_a_numeric_unprivileged_user(storage: Storage) -> None:
    config = storage.inspect(IMAGE)["OCIv1"]["config"]
    assert config["User"] == "65532:65532"
    assert config["Entrypoint"] == ["python3", "-m", "reporter.cli"]
    assert not config.get("Cmd"), "the sidecar of a Job has no arguments"
    prefix = "org.opencontainers.image."
    labels = {key.removeprefix(prefix): value for key, value in config["Labels"].items()}
    assert {"title", "description", "licenses", "version", "revision"} <= labels.keys()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert labels["version"] == project["version"]
    assert len(labels["revision"]) == 40
    assert labels["base.name"] == (base.pinned() if base.is_pulled() else BASE)


def test_its_base_is_the_release_of_debian_that_the_dockerfile_names(storage: Storage) -> None:
    release = (storage.mount(IMAGE) / "etc" / "os-release").read_text("utf-8")
    assert f"VERSION_CODENAME={base.SUITE}\n" in release
    assert f"-slim-{base.SUITE}@sha256:" in base.pinned()


def test_it_is_small(storage: Storage) -> None:
    assert storage.size(IMAGE) <= MAX_SIZE


def test_all_modules_are_compiled_and_none_is_compared_with_its_source(storage: Storage) -> None:
    """A start does not compile, as nothing can be written there, and reads each module once."""
    root = storage.mount(IMAGE)
    sources = [*(root / "packages").rglob("*.py"), *_standard_library(root).rglob("*.py")]
    assert len(sources) > 1000
    lacking = [each for each in sources if not _compiled(each)]
    assert lacking == []
    flags = {int.from_bytes(_compiled(each)[0].read_bytes()[4:8], "little") for each in sources}
    assert flags == {UNCHECKED_HASH}


def test_it_has_neither_the_cluster_in_memory_nor_what_generates_the_documents(
    storage: Storage,
) -> None:
    packages = storage.mount(IMAGE) / "packages"
    assert (packages / "reporter" / "controller").is_dir()
    assert not (packages / "devcluster").exists()
    assert not (packages / "docs").exists()


def test_it_has_the_cel_library_and_the_extensions_that_are_used(storage: Storage) -> None:
    library = storage.mount(IMAGE) / "packages" / "cel_expr_python"
    assert list(library.glob("cel.*.so"))
    found = {file.name.partition(".")[0] for file in (library / "ext").glob("*.so")}
    assert found == USED_EXTENSIONS


def test_it_has_the_locked_packages_and_none_that_nothing_imports(
    storage: Storage, folder: Path
) -> None:
    container = RuncContainer(storage, IMAGE, folder, {})
    container.start(UNUSED_PACKAGES, env={}, program=("python3", "-c"))
    assert container.wait() == 0, container.output()
    unused, found = json.loads(container.output().splitlines()[-1])
    assert unused == []
    lock = (ROOT / "requirements.run.lock").read_text("utf-8").splitlines()
    pins = [line.removesuffix(" \\") for line in lock if re.match(r"[\w.-]+==", line)]
    locked = {pin.split()[0] for pin in pins if _is_of_the_image(pin)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(found) == locked | {f"{project['name']}=={project['version']}"}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_each_locked_package_has_a_wheel_for_the_machine(machine: str, tmp_path: Path) -> None:
    platforms = [f"--platform=manylinux_2_{minor}_{machine}" for minor in (17, 28)]
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
            ),
            *("--require-hashes", "--requirement", str(ROOT / "requirements.run.lock")),
            *("--python-version=3.13", "--implementation=cp", f"--dest={tmp_path}", *platforms),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob(f"cel_expr_python-*{machine}.whl"))


def _is_of_the_image(pin: str) -> bool:
    """Return whether the Python of the base needs a package of the lock."""
    (minor,) = re.findall(r"python:(3\.\d+)-", base.pinned())
    marker = Requirement(pin).marker
    return marker is None or marker.evaluate({"python_full_version": f"{minor}.0"})


def _standard_library(root: Path) -> Path:
    (found,) = {
        each.parent
        for folder in ("usr/lib", "usr/local/lib")
        for each in (root / folder).glob("python3.*/asyncio")
    }
    return found


def _compiled(source: Path) -> list[Path]:
    return list((source.parent / "__pycache__").glob(f"{source.stem}.cpython-*.pyc"))
