"""Go programs and Go modules: built, or only downloaded and read."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from e2e.controlplane import pins


class BuildFailed(Exception):
    """A build with Go that failed; the message ends with its output."""


@dataclass(frozen=True)
class Program:
    """
    *lacking*: a file that the program contains and its module lacks, as its own build makes it, such as
    the pages of its UI. An empty one takes its place.
    """

    name: str
    module: str
    package: str
    expect: str
    version_symbols: tuple[str, ...] = ()
    tags: str = ""
    lacking: str = ""

    def linker_flags(self) -> str:
        """
        Stamp the version. Without it kube-apiserver reports v0.0.0-master, which kubectl refuses.
        """
        stamps = [f"-X {symbol}" for symbol in self.version_symbols]
        return " ".join(["-s", "-w", *stamps])


def go() -> str | None:
    return shutil.which("go")


def build(program: Program, target: Path) -> None:
    """Build into a temporary name and rename, so that no process starts an incomplete program."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    command = [
        *("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", program.linker_flags()),
        *("-tags", program.tags, "-o", str(unfinished)),
    ]
    try:
        with (
            _progress(f"building {program.name}, {program.expect}"),
            _whole_module(program) as flags,
        ):
            command += [*flags, program.package]
            _run(command, program.module, f"building {program.name}")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _whole_module(program: Program) -> Iterator[list[str]]:
    """Yield the flags to build from a copy of the module that has the file that is lacking, if one is."""
    if not program.lacking:
        yield []
        return
    (path,) = (each for each in pins.required(program.module) if program.package.startswith(each))
    listed = ["go", "mod", "download", "-json", f"{path}@{pins.version(program.module, path)}"]
    (found,) = _documents(_run(listed, program.module, f"downloading {path}"))
    with tempfile.TemporaryDirectory() as folder:
        copy, mod = Path(folder, "module"), Path(folder, "go.mod")
        (copy / program.lacking).parent.mkdir(parents=True)
        (copy / program.lacking).touch()
        shutil.copytree(found["Dir"], copy, dirs_exist_ok=True)
        own = pins.module_folder(program.module)
        mod.write_text(f"{(own / 'go.mod').read_text()}\nreplace {path} => {copy}\n")
        shutil.copyfile(own / "go.sum", mod.with_name("go.sum"))
        yield [f"-modfile={mod}"]


def download(module: str) -> dict[str, Path]:
    """Folder of each module that *module* requires, at exactly the pinned version."""
    wanted = [f"{path}@{version}" for path, version in pins.required(module).items()]
    doing = "downloading the modules that hold the CRDs and the kwok stages"
    with _progress(doing):
        printed = _run(["go", "mod", "download", "-json", *wanted], module, doing)
    return {found["Path"]: Path(found["Dir"]) for found in _documents(printed)}


def _environment() -> dict[str, str]:
    """Return the environment of Go, which builds with all processors."""
    given = {name: value for name, value in os.environ.items() if name != "GOMAXPROCS"}
    return given | {"CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}


def _run(command: list[str], module: str, doing: str) -> str:
    done = subprocess.run(
        command,
        cwd=pins.module_folder(module),
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        _fail(doing, module, done)
    return done.stdout


def _fail(doing: str, module: str, done: subprocess.CompletedProcess[str]) -> NoReturn:
    output = (done.stderr + done.stdout).strip().splitlines()[-20:]
    raise BuildFailed(
        "\n".join([f"{doing} failed, with the go.mod of {pins.module_folder(module)}:", *output])
    )


def _documents(text: str) -> Iterator[dict[str, str]]:
    decoder, position = json.JSONDecoder(), 0
    while text[position:].strip():
        position += len(text[position:]) - len(text[position:].lstrip())
        document, position = decoder.raw_decode(text, position)
        yield document


@contextmanager
def _progress(doing: str) -> Iterator[None]:
    """Log the name of a long build, and again every half minute."""
    started = time.monotonic()
    done = threading.Event()

    def remind() -> None:
        while not done.wait(30):
            _say(f"  … {time.monotonic() - started:.0f} s")

    _say(doing)
    reminder = threading.Thread(target=remind, daemon=True)
    reminder.start()
    try:
        yield
    finally:
        done.set()
        reminder.join()
    _say(f"  done after {time.monotonic() - started:.0f} s")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
