"""
Prepare a new cluster for the reporter: CRDs, and a stack of programs that do nothing.

Not yet verified on kind itself: written where kind cannot run.
"""

import argparse
import json
from pathlib import Path

from e2e.controlplane import Client, Json, crds, manifests, pins
from e2e.suite import kubeconfig
from e2e.suite.cluster import DEDICATED_LABEL, IDLE
from e2e.support.production_stack import components


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m e2e.kind", description=__doc__)
    parser.add_argument("kubeconfig", type=Path)
    parser.add_argument("image", help="any with Python, there already; it stands in for them all")
    given = parser.parse_args()
    prepare(kubeconfig.client(given.kubeconfig), given.image)


def prepare(client: Client, image: str) -> None:
    """Install the CRDs and the stack. Returns when all of it is Ready."""
    label = {"metadata": {"labels": {DEDICATED_LABEL: "true"}}}
    client.patch("/api/v1/namespaces/kube-system", label)
    crds.install(client, _crds())
    for each in components.manifests():
        client.apply(_idle(each, image) if each["kind"] == "Deployment" else each)
    for component in components.COMPONENTS:
        components.until_ready(client, component, within=180)


def _crds() -> list[Json]:
    """Return the CRDs of the local control plane. Needs Go if they are not cached yet."""
    target = pins.cache_folder() / "crds.json"
    if not target.is_file():
        manifests.write(target.name, target)
    return [*json.loads(target.read_text()), *manifests.own_crds()]


def _idle(deployment: Json, image: str) -> Json:
    for each in deployment["spec"]["template"]["spec"]["containers"]:
        each |= {"image": image, "command": ["python3", "-c", IDLE]}
    return deployment


if __name__ == "__main__":
    main()
