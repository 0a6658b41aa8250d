"""
The versions of the control plane, read from the go.mod files in modules/.

They are pinned there and nowhere else. What is built from them is cached outside the
checkout, in a folder whose name changes with every pin.
"""

import hashlib
import os
import platform
import re
from pathlib import Path


MODULES = Path(__file__).parent / "modules"
DATA = Path(__file__).parent / "data"
CACHE_FORMAT = "1"
_REQUIREMENT = re.compile(
    r"^(?:require)?\s+(?P<path>\S+) (?P<version>v\S+)(?! // indirect)$", re.MULTILINE
)


def version(module: str, path: str) -> str:
    return required(module)[path]


def required(module: str) -> dict[str, str]:
    """
    Return the version by module path of the direct requirements in go.mod.
    """
    text = (MODULES / module / "go.mod").read_text()
    before_replacements = text.split("\nreplace", maxsplit=1)[0]
    return {m["path"]: m["version"] for m in _REQUIREMENT.finditer(before_replacements)}


def cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    kubernetes = version("kubernetes", "k8s.io/kubernetes")
    base = Path(home) / "productionstack-status-reporter" / "controlplane"
    return base / f"{kubernetes}-{_digest()}"


def _digest() -> str:
    digest = hashlib.sha256()
    for part in (CACHE_FORMAT, platform.system(), platform.machine()):
        digest.update(part.encode())
    for file in sorted(MODULES.glob("*/*")):
        digest.update(f"{file.relative_to(MODULES)}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
