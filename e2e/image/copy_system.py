"""
Copy Python and what it needs of its image into an empty folder, which is the last stage of the Dockerfile.

The Dockerfile runs this in the base, with nothing but the standard library. The folder has no shell, no package
manager and no setuid file. Scanners and SBOMs read in it which packages of Debian its files are of.
"""

import argparse
import compileall
import functools
import os
import py_compile
import re
import shutil
import ssl
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path


ROOT = Path("/")
LEFT_OUT = frozenset(
    (
        *("__pycache__", "dist-packages", "site-packages", "sitecustomize.py"),
        *("ensurepip", "venv", "lib2to3", "pydoc_data", "test", "tests"),
        *("idlelib", "tkinter", "turtle.py", "turtledemo", "_tkinter"),
        *("curses", "_curses", "_curses_panel", "readline", "nis", "_crypt"),
        *("sqlite3", "_sqlite3", "dbm", "_dbm", "_gdbm"),
    )
)
"""Parts of the standard library that nothing imports: installers, windows, terminals, databases."""

TEST_MODULE = re.compile(r"_?xx|_test|_ctypes_test|config-")
"""Beginnings of the names of modules for tests, and of the folder for those who build Python."""

LOADED_LATER = "libgcc_s.so.1"
"""The library that libc loads when a thread is ended; without it the process aborts."""

SETTINGS = (
    *("/etc/nsswitch.conf", "/etc/ld.so.cache", "/etc/os-release", "/etc/debian_version"),
    *("/etc/ssl/openssl.cnf", "/usr/lib/ssl/openssl.cnf"),
)
ZONES = Path("/usr/share/zoneinfo")
DPKG = Path("/var/lib/dpkg")
COPYRIGHT = "/usr/share/doc/{package}/copyright"
GENERATED = frozenset({"ca-certificates"})
"""Packages whose files are written when they are installed, so no list names them."""

PASSWD = """\
root:x:0:0:root:/root:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
nonroot:x:65532:65532:nonroot:/nonexistent:/usr/sbin/nologin
"""
GROUP = "root:x:0:\nnogroup:x:65534:\nnonroot:x:65532:\n"
FOLDER_MODE, MODULE_MODE, OPEN_MODE = 0o755, 0o644, 0o1777
LIBRARY = re.compile(r"(?:=>|^)\s*(/\S+) \(0x", re.MULTILINE)


def copy_system(target: Path, packages: Path) -> None:
    """Copy Python, its libraries and settings, and those that the packages load."""
    library = Path(sysconfig.get_path("stdlib"))
    files = [*_programs(), *_standard_library(library), *_authorities(), *_files(ZONES)]
    files += [Path(each) for each in SETTINGS if Path(each).exists()]
    binaries = [Path(sys.executable), *(each for each in files if each.suffix == ".so")]
    binaries += packages.rglob("*.so")
    copied: set[Path] = set()
    for file in sorted({*files, *_libraries(binaries, packages)}):
        _copy(file, target, copied)
    for link in ROOT.glob("lib*"):
        if link.is_symlink() and (target / link.readlink()).is_dir():
            (target / link.name).symlink_to(link.readlink())
    _name_packages(target, copied)
    (target / "etc" / "passwd").write_text(PASSWD, "utf-8")
    (target / "etc" / "group").write_text(GROUP, "utf-8")
    (target / "tmp").mkdir()
    _compile(target / library.relative_to(ROOT), target)


def _programs() -> Iterator[Path]:
    """Yield this Python and its shorter names."""
    program = Path(sys.executable).resolve()
    for name in ("python", "python3", program.name):
        path = Path(sys.executable).with_name(name)
        if path.exists() and path.resolve() == program:
            yield path


def _standard_library(folder: Path) -> Iterator[Path]:
    for path in _files(folder):
        names = [part.partition(".cpython-")[0] for part in path.relative_to(folder).parts]
        if not any(name in LEFT_OUT or TEST_MODULE.match(name) for name in names):
            yield path


def _authorities() -> Iterator[Path]:
    """Yield the CA certificates that Python reads without being told where they are."""
    path = Path(ssl.get_default_verify_paths().openssl_cafile)
    if not path.is_file():
        raise SystemExit(f"The base has no CA certificates: {path} does not exist.")
    yield path


def _files(folder: Path) -> Iterator[Path]:
    return (each for each in folder.rglob("*") if each.is_file())


def _libraries(binaries: Iterable[Path], packages: Path) -> set[Path]:
    """Return the shared libraries that these files load, but those that packages bring themselves."""
    found = set()
    for binary in binaries:
        listed = subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout
        if "not found" in listed:
            raise SystemExit(f"The base lacks a library of {binary}:\n{listed}")
        found |= {Path(path) for path in LIBRARY.findall(listed)}
    (libc,) = (each for each in found if each.name == "libc.so.6")
    return {each for each in found if packages not in each.parents} | {
        libc.with_name(LOADED_LATER)
    }


def _copy(file: Path, target: Path, copied: set[Path]) -> None:
    """Copy a file to the same path below the target, with the links that lead to it."""
    path = _real(file)
    if path in copied:
        return
    copied.add(path)
    place = target / path.relative_to(ROOT)
    place.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        place.symlink_to(path.readlink())
        _copy(path.parent / path.readlink(), target, copied)
    else:
        shutil.copyfile(path, place)
        place.chmod(path.stat().st_mode & FOLDER_MODE)


def _real(file: Path) -> Path:
    """Return the path without links among its folders, such as /lib; the last part may be one."""
    return _resolved(file.parent) / file.name


@functools.cache
def _resolved(folder: Path) -> Path:
    return folder.resolve()


def _name_packages(target: Path, copied: set[Path]) -> None:
    """Write the packages of Debian that the files are of, as distroless images have them, and their licences."""
    status = (DPKG / "status").read_text("utf-8").strip()
    stanzas = {
        re.findall(r"^Package: (\S+)$", each, re.MULTILINE)[0]: each
        for each in status.split("\n\n")
    }
    names = {package for package in _owners(copied) | GENERATED if package in stanzas}
    folder = target / (DPKG / "status.d").relative_to(ROOT)
    folder.mkdir(parents=True)
    for name in sorted(names):
        (folder / name).write_text(f"{stanzas[name]}\n", "utf-8")
        licence = Path(COPYRIGHT.format(package=name))
        if licence.is_file():
            _copy(licence, target, copied)


def _owners(files: set[Path]) -> set[str]:
    return {
        each.name.removesuffix(".list").partition(":")[0]
        for each in (DPKG / "info").glob("*.list")
        if any(_real(Path(line)) in files for line in each.read_text("utf-8").splitlines())
    }


def _compile(folder: Path, root: Path) -> None:
    """
    Compile modules for the path below a root, and so that no start compares them with their sources.

    One after another: what is written depends on what the same process has compiled before.
    """
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    if not compileall.compile_dir(
        folder,
        quiet=1,
        force=True,
        workers=1,
        invalidation_mode=mode,
        stripdir=root,
        prependdir=ROOT,
    ):
        raise SystemExit(f"Some modules of {folder} cannot be compiled.")


def _make_equal(root: Path) -> None:
    """Give all files the same time, and the same rights whoever has made them."""
    for path in (root, *root.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(OPEN_MODE if path == root / "tmp" else FOLDER_MODE)
        elif path.suffix == ".py":
            path.chmod(MODULE_MODE)  # some of the standard library can be started by themselves
        os.utime(path, (0, 0), follow_symlinks=False)


def main() -> None:
    """Fill both folders, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=Path, required=True, help="where the program is")
    parser.add_argument("--system", type=Path, required=True, help="for what is of the base")
    parser.add_argument(
        "--program", type=Path, required=True, help="for the packages, which are moved"
    )
    arguments = parser.parse_args()
    copy_system(arguments.system, arguments.packages)
    arguments.program.mkdir()
    moved = shutil.move(arguments.packages, arguments.program)
    _compile(Path(moved), arguments.program)
    for each in (arguments.system, arguments.program):
        _make_equal(each)


if __name__ == "__main__":
    main()
