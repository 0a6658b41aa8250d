"""
The policy and the CRDs that an API server has written, kept for the next control plane.

To write them is half of the processor time of a start. An API server finds them in etcd as after a restart;
what stands for one cluster (Namespaces and their UIDs, Services, Leases, certificates) it makes itself.
"""

import contextlib
import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from e2e.controlplane import etcd
from e2e.controlplane.assets import Assets
from e2e.controlplane.manifests import Json
from e2e.controlplane.options import Options


KEPT = 16
"""States on a machine, of less than a megabyte each: those that were used last."""

_PREFIXES = (
    "/registry/apiextensions.k8s.io/customresourcedefinitions/",
    "/registry/apiregistration.k8s.io/apiservices/",
    "/registry/clusterrolebindings/",
    "/registry/clusterroles/",
    "/registry/flowschemas/",
    "/registry/prioritylevelconfigurations/",
    "/registry/rolebindings/",
    "/registry/roles/",
)
_CODE = ("commands.py", "crds.py", "etcd.py", "plane.py", "prepared.py")


@dataclass(frozen=True)
class State:
    """The file for one digest, whether it is there or not."""

    path: Path

    def write_to(self, port: int) -> bool:
        """Write the state to a new etcd. Returns False if there is none that can be read."""
        try:
            values = json.loads(gzip.decompress(self.path.read_bytes()))
            os.utime(self.path)
        except (OSError, EOFError, zlib.error, ValueError):
            return False
        etcd.write_all(port, values)
        return True

    def keep(self, port: int) -> None:
        """Keep what an etcd has. Of several processes the last one succeeds; a full disk keeps nothing."""
        values = etcd.read_all(port, _PREFIXES)
        with contextlib.suppress(OSError):
            states = self.path.parent
            states.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=states, delete=False) as unfinished:
                unfinished.write(gzip.compress(json.dumps(values).encode(), compresslevel=1))
            Path(unfinished.name).replace(self.path)
            prune(states)


def state(states: Path, assets: Assets, options: Options, crds: Iterable[Json]) -> State | None:
    """
    Return the state that a control plane with these CRDs starts from, None with flags of its own: they may
    change what is stored, and how.
    """
    if options.apiserver_flags or options.etcd_flags:
        return None
    programs = [Path(assets.program(name)) for name in ("etcd", "kube-apiserver")]
    return State(states / f"{digest(programs, crds)}.json.gz")


def digest(programs: Iterable[Path], crds: Iterable[Json]) -> str:
    """Return the digest of all that a state depends on: programs, CRDs, and the code that stores them."""
    files = [(str(each), each.stat()) for each in programs]
    parts = [
        [(path, stat.st_size, stat.st_mtime_ns) for path, stat in files],
        [(Path(__file__).parent / name).read_text() for name in _CODE],
        list(crds),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def prune(states: Path, kept: int = KEPT) -> None:
    """Remove all files but those that were used last, also those that an ended process left unfinished."""
    by_use = sorted(states.iterdir(), key=_used, reverse=True)
    for each in by_use[kept:]:
        each.unlink(missing_ok=True)


def _used(path: Path) -> float:
    """Return when a state was used last, 0 for one that another process has just removed."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0
