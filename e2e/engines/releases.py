"""The releases of vLLM whose pages are recorded, and their sources on this machine."""

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from e2e.controlplane import pins


PACKAGES = (
    "fastapi",
    "msgspec",
    "prometheus-client",
    "prometheus-fastapi-instrumentator",
    "pydantic",
    "regex",
)
"""The packages, of those that vLLM requires, which the classes of metrics and the HTTP server need."""


class SourcesMissing(Exception):
    """The wheel of a release, or a package that it needs, cannot be had; the text has pip's answer."""


@dataclass(frozen=True)
class Release:
    """
    A release of vLLM, and how its server runs.

    *page*: the name by which stories ask for it. *shows*: why it is recorded. *engines*: those of
    --data-parallel-size. *processes*: those of --api-server-count, if they are several. *environment*: the
    variables that it is given.
    """

    page: str
    version: str
    shows: str
    engine: str = "v1"
    engines: int = 1
    processes: int = 0
    environment: tuple[str, ...] = ()


RELEASES = (
    Release("vllm-v0", "0.7.3", "no label engine, no counter of HTTP requests", engine="v0"),
    Release("vllm-old", "0.8.0", "the same, of the engine V1"),
    Release(
        "vllm-0.8", "0.8.5", "the label engine, HTTP requests, the KV cache by its first name"
    ),
    Release("vllm-0.10", "0.10.2", "the KV cache by both names"),
    Release(
        *("vllm-0.10-processes", "0.10.2", "the second of these names from each of two servers"),
        processes=2,
    ),
    Release("vllm-0.11", "0.11.2", "the KV cache by its second name alone, sleep states"),
    Release(
        *("vllm-0.11-processes", "0.11.0", "the second name alone, from each of two servers"),
        processes=2,
    ),
    Release("vllm-v1", "0.22.1", "what KAITO 0.11.0 runs"),
    Release("vllm-v1-engines", "0.22.1", "two engines", engines=2),
    Release(
        *(
            "vllm-new",
            "0.33.0",
            "the newest release, which counts corrupted results if it is told to",
        ),
        environment=("VLLM_COMPUTE_NANS_IN_LOGITS=1",),
    ),
)


def sources(version: str) -> tuple[Path, Path]:
    """Return the folders of a release's sources and of the packages that they need; download them once."""
    folder = pins.cache_folder().parents[1] / "vllm" / version
    if not folder.exists():
        with tempfile.TemporaryDirectory() as made:
            _download(version, Path(made))
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(made, "kept"), folder)
    return folder / "sources", folder / "packages"


def _download(version: str, made: Path) -> None:
    _pip("download", f"vllm=={version}", "--no-deps", "--only-binary=:all:", f"--dest={made}")
    (wheel,) = made.glob("vllm-*.whl")
    with zipfile.ZipFile(wheel) as content:
        wanted = [name for name in content.namelist() if name.endswith((".py", "/METADATA"))]
        content.extractall(made / "kept" / "sources", wanted)
    wheel.unlink()
    (metadata,) = made.glob("kept/sources/*.dist-info/METADATA")
    packages = made / "kept" / "packages"
    _pip("install", f"--target={packages}", *_requirements(metadata.read_text("utf-8")))


def _requirements(metadata: str) -> list[str]:
    """Return which packages of PACKAGES a release asks for; any release of those that it does not name."""
    found = re.findall(r"(?m)^Requires-Dist: ([\w.-]+)(?:\[\w+\])?(.*)$", metadata)
    named = {name.lower().replace("_", "-"): name for name, _ in found}
    asked = [
        f"{name}{rest}"
        for name, rest in found
        if name.lower().replace("_", "-") in PACKAGES and "extra ==" not in rest
    ]
    return [*asked, *(each for each in PACKAGES if each not in named)]


def _pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SourcesMissing(f"pip {words[0]} {words[1]}: {done.stderr.strip()}")
