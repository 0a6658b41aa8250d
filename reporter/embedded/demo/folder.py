"""
Where the demo's files are: the same place each time, so that a kubectl can be kept at hand.
"""

import fcntl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path


PROGRAM = "productionstack-status-reporter"


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """
    *backup*: what the story takes away and brings back.
    """

    path: Path

    @property
    def kubeconfig(self) -> Path:
        return self.path / "kubeconfig"

    @property
    def overlay(self) -> Path:
        return self.path / "overlay.yaml"

    @property
    def backup(self) -> Path:
        return self.path / "httproutes.yaml"

    @property
    def reporter_log(self) -> Path:
        """
        Of the reporter.
        """
        return self.path / "reporter.log"

    @property
    def demo_log(self) -> Path:
        """
        Of the API server and the watch, whose complaints would disturb the story.
        """
        return self.path / "demo.log"


@contextmanager
def claim_folder(environ: Mapping[str, str]) -> Iterator[DemoFolder]:
    """
    A folder that no other demo uses: the first that is free of demo, demo-2 and so on.
    """
    base = _base_folder(environ)
    for number in count(1):
        path = base / ("demo" if number == 1 else f"demo-{number}")
        path.mkdir(exist_ok=True)
        with (path / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield DemoFolder(path)
            return


def _base_folder(environ: Mapping[str, str]) -> Path:
    """
    The user's cache, or a new temporary folder where there is none that can be written to.
    """
    try:
        cache = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute()
        base = cache / PROGRAM
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=base):
            return base
    except (OSError, RuntimeError):
        return Path(tempfile.mkdtemp(prefix=f"{PROGRAM}-"))


def display_path(path: Path) -> str:
    """
    As one would type it: with ~ where it is in the home folder.
    """
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
