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
TOOLS = Path(__file__).parent / "tools"
"""
Programs that single tests need. Each has a cache of its own, so that a new one builds nothing else anew.
"""

DATA = Path(__file__).parent / "data"
CACHE_FORMAT = "1"
_REQUIREMENT = re.compile(
    r"^(?:require)?\s+(?P<path>\S+) (?P<version>v\S+)(?! // indirect)$", re.MULTILINE
)


def version(module: str, path: str) -> str:
    return required(module)[path]


def required(module: str) -> dict[str, str]:
    """Return the version by module path of the direct requirements in go.mod."""
    text = (module_folder(module) / "go.mod").read_text()
    before_replacements = text.split("\nreplace", maxsplit=1)[0]
    return {m["path"]: m["version"] for m in _REQUIREMENT.finditer(before_replacements)}


def cache_folder() -> Path:
    kubernetes = version("kubernetes", "k8s.io/kubernetes")
    return _cache() / "controlplane" / f"{kubernetes}-{_digest(MODULES, '*/*')}"


def tool_folder(module: str) -> Path:
    return _cache() / "tools" / f"{module}-{_digest(TOOLS / module, '*')}"


def states_folder() -> Path:
    """Return where states of etcd are kept, those of all versions together, so that old ones go."""
    return _cache() / "states"


def module_folder(module: str) -> Path:
    """Return where the go.mod of a module is."""
    tool = TOOLS / module
    return tool if tool.is_dir() else MODULES / module


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "productionstack-status-reporter"


def _digest(folder: Path, pattern: str) -> str:
    digest = hashlib.sha256()
    for part in (CACHE_FORMAT, platform.system(), platform.machine()):
        digest.update(part.encode())
    for file in sorted(folder.glob(pattern)):
        digest.update(f"{file.relative_to(folder)}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
