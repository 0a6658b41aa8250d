"""
With what the reporter is started: its own defaults, but for patience that suits a story.
"""

from pathlib import Path

import yaml

from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.embedded.demo.folder import DemoFolder
from reporter.model.enums import Layer
from reporter.settings import FLAG_NAMES
from reporter.stages.probes.specs import SPECS


SHORT_HOLD = "3s"
FLAGS = ("--startup-grace-seconds=3", "--settle-seconds=2", "--leader-elect=true")


def reporter_arguments(folder: DemoFolder, *, metrics: str, health: str) -> list[str]:
    """
    Writes the overlay; *metrics* and *health* are addresses.
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
    """
    The holds of the cluster's troubles, 15 s and 30 s as shipped, shortened.
    """
    shipped = load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES)
    hold = {"failed": SHORT_HOLD, "lost": SHORT_HOLD}
    reasons = {
        str(entry.reason): {"hold": dict(hold)}
        for entry in shipped.evaluated_entries(Layer.CLUSTER)
    }
    path.write_text(yaml.safe_dump({"reasons": reasons}, sort_keys=False), "utf-8")
