"""The folder of the demo's files: the same one each time, so that kubectl commands stay valid."""

import fcntl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from reporter import PROGRAM_NAME


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """The files of one demo; *backup* holds the objects that a scenario deletes and restores."""

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
        return self.path / "reporter.log"

    @property
    def demo_log(self) -> Path:
        """The log of the API server and the watch; on the terminal it would disturb the output."""
        return self.path / "demo.log"


@contextmanager
def claim_folder(environ: Mapping[str, str]) -> Iterator[DemoFolder]:
    """Lock the first folder of demo, demo-2 and so on that no other demo uses."""
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
    """Return the user's cache folder, or a new temporary folder if it is not writable."""
    try:
        cache = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute()
        base = cache / PROGRAM_NAME
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=base):
            return base
    except (OSError, RuntimeError):
        return Path(tempfile.mkdtemp(prefix=f"{PROGRAM_NAME}-"))


def display_path(path: Path) -> str:
    """Return the path as a user would type it, with ~ for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
