"""
The helm program, with a home folder of its own.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from e2e.chart import CHART
from e2e.controlplane import assets


REGISTRY = "registry.example/team"
IMAGE = f"--set=image.registry={REGISTRY}"
"""
The one value that has no default: where the image is.
"""

IN_UMBRELLA = IMAGE.replace("image", f"{CHART.name}.image")

Json = dict[str, Any]


class HelmFailed(Exception):
    """
    A helm command that failed, with its output.
    """


@dataclass(frozen=True)
class Helm:
    """
    Runs helm. *home*: folder for its files. Without a *kubeconfig* it can only render and lint.
    """

    home: Path
    kubeconfig: Path | None = None

    def __call__(self, *words: str) -> str:
        """
        Run a helm command and return its output. Raise HelmFailed.
        """
        env = {
            **os.environ,
            "HELM_CACHE_HOME": str(self.home / "cache"),
            "HELM_CONFIG_HOME": str(self.home / "config"),
            "HELM_DATA_HOME": str(self.home / "data"),
            "KUBECONFIG": str(self.kubeconfig or os.devnull),
        }
        program = assets.program("helm")
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
        Return the objects; those of this chart with the image from *REGISTRY*, unless told otherwise.
        """
        image = (IMAGE,) if chart == CHART else ()
        text = self("template", release, str(chart), f"--namespace={namespace}", *image, *words)
        return [each for each in yaml.safe_load_all(text) if each]
