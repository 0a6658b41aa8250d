"""
Delete from a folder of packages what no part of the program imports: `python drop_unused.py FOLDER`.

The Dockerfile runs this. Of the Kubernetes client, the synchronous half is not imported
(reporter/kube/__init__.py), nor are the packages that it alone needs. Of the other half, the models and
typed APIs are 9 of 10 bytes. The reporter reads raw JSON into structs of its own, so nothing imports these
modules: the client resolves their names lazily (kubernetes/aio/client/__init__.py, __getattr__). Of the CEL
library, two of six extensions are used, and each has 4 to 7 MB.
"""

import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path


KUBERNETES = "kubernetes"
USED_OF_KUBERNETES = frozenset({"__init__.py", "aio", "py.typed"})
CLIENT = f"{KUBERNETES}/aio/client"
GENERATED = ("api", "apis", "models")
"""
Folders with one module for each type or group of the API. Their __init__ stays: the client imports it.
"""

CEL_EXTENSIONS = "cel_expr_python/ext"
USED_EXTENSIONS = frozenset({"ext_optional", "ext_strings"})
DISTRIBUTIONS = (
    "certifi",
    "charset-normalizer",
    "durationpy",
    "oauthlib",
    "requests",
    "requests-oauthlib",
    "tzdata",
    "websocket-client",
)
"""
Packages that others require and nothing imports. tzdata is for dateutil, which reads time zones of the base first;
the others are for the synchronous client.
"""

TEST_FILES = ("*_test.py", "test_*.py")
TEST_FOLDERS = "tests"


def unused(packages: Path) -> Iterator[Path]:
    """Yield the files and folders that are not needed."""
    yield from _of_kubernetes(packages)
    for extension in (packages / CEL_EXTENSIONS).glob("ext_*"):
        if extension.name.partition(".")[0] not in USED_EXTENSIONS:
            yield extension
    for found in distributions(path=[str(packages)]):
        if found.name in DISTRIBUTIONS:
            # Scripts are beside the folder, as ../bin.
            tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
            yield from (packages / name for name in tops)
    for folder in packages.iterdir():
        if folder.is_dir() and not _can_be_imported(folder):
            yield folder
    for pattern in TEST_FILES:
        yield from (packages / "kubernetes").rglob(pattern)
    yield from packages.rglob(TEST_FOLDERS)


def _of_kubernetes(packages: Path) -> Iterator[Path]:
    for each in (packages / KUBERNETES).iterdir():
        if each.name not in USED_OF_KUBERNETES:
            yield each
    for name in GENERATED:
        for module in (packages / CLIENT / name).glob("*"):
            if module.name != "__init__.py":
                yield module


def _can_be_imported(folder: Path) -> bool:
    """
    Return False for what only lies there, as the sources of its build in the wheel of the CEL library.
    """
    return folder.suffix == ".dist-info" or folder.name.isidentifier()


def drop(packages: Path) -> int:
    """Delete them and return how many bytes that were."""
    freed = 0
    for path in sorted(set(unused(packages)), reverse=True):
        if path.is_dir():
            freed += sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
            shutil.rmtree(path)
        else:
            freed += path.stat().st_size
            path.unlink()
    return freed


def main() -> int:
    folder = Path(sys.argv[1])
    present = {each.name for each in distributions(path=[str(folder)])}
    missing = [name for name in (CLIENT, CEL_EXTENSIONS) if not (folder / name).is_dir()]
    missing += [name for name in DISTRIBUTIONS if name not in present]
    if missing:
        print(f"{folder} has no {', '.join(missing)}")
        return 1
    print(f"{drop(folder) / 1e6:.1f} MB dropped from {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
