"""
Delete from a folder of packages what no part of the program imports: `python drop_unused.py FOLDER`.

The Dockerfile runs this. Of the CEL library, two of six extensions are used, and each has 4 to 7 MB.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path


CEL_EXTENSIONS = "cel_expr_python/ext"
USED_EXTENSIONS = frozenset({"ext_optional", "ext_strings"})
TEST_FOLDERS = "tests"


def unused(packages: Path) -> Iterator[Path]:
    """Yield the files and folders that are not needed."""
    for extension in (packages / CEL_EXTENSIONS).glob("ext_*"):
        if extension.name.partition(".")[0] not in USED_EXTENSIONS:
            yield extension
    for folder in packages.iterdir():
        if folder.is_dir() and not _can_be_imported(folder):
            yield folder
    yield from packages.rglob(TEST_FOLDERS)


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
    if not (folder / CEL_EXTENSIONS).is_dir():
        print(f"{folder} has no {CEL_EXTENSIONS}")
        return 1
    print(f"{drop(folder) / 1e6:.1f} MB dropped from {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
