"""The helm program, with a home folder of its own."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from e2e.chart import CHART, HUB_CHART
from e2e.controlplane import assets


REGISTRY = "registry.example/team"
IMAGE = f"--set=image.registry={REGISTRY}"
"""The one value that has no default: where the image is."""

IN_UMBRELLA = IMAGE.replace("image", f"{CHART.name}.image")

Json = dict[str, Any]


class HelmFailed(Exception):
    """A helm command that failed, with its output."""


_RENDERED: dict[tuple[object, ...], str] = {}
"""The texts rendered in this process, by the command and the content of its files of values."""


@dataclass(frozen=True)
class Helm:
    """
    Runs helm. *home*: folder for its files. Without a *kubeconfig* it can only render and lint.

    *program*: its asset.
    """

    home: Path
    kubeconfig: Path | None = None
    program: str = "helm"

    def __call__(self, *words: str) -> str:
        """Run a helm command and return its output. Raise HelmFailed."""
        env = {
            **os.environ,
            "HELM_CACHE_HOME": str(self.home / "cache"),
            "HELM_CONFIG_HOME": str(self.home / "config"),
            "HELM_DATA_HOME": str(self.home / "data"),
            "KUBECONFIG": str(self.kubeconfig or os.devnull),
            "GOGC": "off",  # it ends before garbage matters
        }
        program = assets.program(self.program)
        done = subprocess.run(
            [program, *words], env=env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise HelmFailed(done.stderr.strip() + done.stdout.strip())
        return done.stdout

    def render(
        self, chart: Path, *words: str, release: str = "stack", namespace: str = "kaito-system"
    ) -> list[Json]:
        """
        Return the objects; those of our charts with the image from *REGISTRY*, unless told otherwise.
        """
        ours = chart in (CHART, HUB_CHART)
        image = (IMAGE,) if ours else ()
        command = ("template", release, str(chart), f"--namespace={namespace}", *image, *words)
        text = self._rendered(*command) if ours else self(*command)
        return [each for each in yaml.load_all(text, yaml.CSafeLoader) if each]

    def _rendered(self, *command: str) -> str:
        files = (
            each.removeprefix("--values=") for each in command if each.startswith("--values=")
        )
        key = (*command, *(Path(each).read_bytes() for each in files))
        if key not in _RENDERED:
            _RENDERED[key] = self(*command)
        return _RENDERED[key]
