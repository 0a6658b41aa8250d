"""The flags of the demo's reporter: the defaults with shorter delays."""

from pathlib import Path

import yaml

from devcluster.demo.folder import DemoFolder
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.evaluation.registry import SPECS
from reporter.model.enums import Layer
from reporter.settings import FLAG_NAMES


SHORT_HOLD = "3s"
FLAGS = ("--startup-grace-seconds=3", "--settle-seconds=2", "--leader-elect=true")


def reporter_arguments(folder: DemoFolder, *, metrics: str, health: str) -> list[str]:
    """
    Return the arguments of the reporter, and write the catalogue overlay that they name.

    *metrics* and *health* are addresses such as 127.0.0.1:8080.
    """
    _write_overlay(folder.overlay)
    return [
        f"--kubeconfig={folder.kubeconfig}",
        f"--catalogue-overlay={folder.overlay}",
        f"--metrics-bind-address={metrics}",
        f"--health-probe-bind-address={health}",
        *FLAGS,
    ]


def _write_overlay(path: Path) -> None:
    """Shorten the holds of the cluster layer, which are 15 s and 30 s in the catalogue."""
    catalogue = load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES)
    hold = {"failed": SHORT_HOLD, "lost": SHORT_HOLD}
    reasons = {
        str(entry.reason): {"hold": dict(hold)}
        for entry in catalogue.evaluated_entries(Layer.CLUSTER)
    }
    path.write_text(yaml.safe_dump({"reasons": reasons}, sort_keys=False), "utf-8")
