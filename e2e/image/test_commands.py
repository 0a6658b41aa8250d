"""
Every command of the program runs in the image: as nobody, on a file system that cannot be written to.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import pytest

from devcluster.example.stack import manifests
from e2e.image import IMAGE
from e2e.image.container import RuncContainer
from e2e.image.storage import Storage
from reporter.cli.command import COMMANDS


NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
REPOSITORY = Path(__file__).parents[2]
PACKS = "/packages/reporter/catalogue/data/packs"
OWN = "/own"
"""
A folder with what a user brings: a dump, and the overlay with expressions from the documentation.
"""

OVERLAY = re.compile(r"```yaml\n# overlay\.yaml\n(kinds:.*?)```", re.DOTALL)

SHIPPED = sorted(each.parent.name for each in (REPOSITORY / "catalogue/packs").glob("*/stories"))
RUNS = {
    "version": (0, "0."),
    "check-config": (0, "clusterBBRNotReady"),
    "check-config -o json --packs=kaito,kserve,kuberay,gateway-api": (0, '"packs"'),
    f"check-config --catalogue-overlay={OWN}/overlay.yaml": (
        0,
        "modelharnessInferenceServiceNotReady",
    ),
    **{f"test {PACKS}/{pack}/stories --packs={pack}": (0, " passed\n") for pack in SHIPPED},
    "test --schema": (0, "$schema"),
    f"lint {PACKS}/../": (0, ""),
    f"lint {OWN}/overlay.yaml -o junit": (0, "<testsuite"),
    "docs": (0, "## clusterBBRNotReady"),
    "docs --packs=kserve": (0, "kserve"),
    "explain clusterBBRNotReady": (0, "clusterBBRNotReady"),
    f"status --from=file:{OWN}/dump.json": (0, "team-a"),
    f"status --from=file:{OWN}/dump.json -o json": (0, '"namespaces"'),
    f"explain cluster --from=file:{OWN}/dump.json": (0, "clusterKaitoControllerNotReady"),
    f"check --from={OWN}/dump.json -o junit": (5, "Progressing: clusterKaitoControllerNotReady"),
    f"wait cluster --from=file:{OWN}/dump.json": (2, "--from"),
    "silence team-a all --until=2h --why=maintenance --by=me": (0, "silence-until"),
    "completion bash": (0, "complete"),
    "completion zsh": (0, "#compdef"),
    "completion fish": (0, "complete"),
    "dump": (2, "set --kubeconfig or KUBECONFIG"),
    "run": (2, "set --kubeconfig or KUBECONFIG"),
    "hub": (2, "--hub-query-url"),
    "job-status": (1, "JOB_NAME: required"),
}

pytestmark = pytest.mark.slow


def ended(
    storage: Storage, folder: Path, *words: str, env: Mapping[str, str] = MappingProxyType({})
) -> tuple[int, str]:
    """Run a command in a container; return its exit code and what it has printed."""
    container = RuncContainer(storage, IMAGE, folder, {OWN: _own_files(folder)})
    container.start(*words, env={"HOME": "/nowhere", **env})
    try:
        return container.wait(), container.output()
    finally:
        container.remove()


def test_each_command_is_run_here() -> None:
    names = {each.split()[0] for each in RUNS}
    assert names == set(COMMANDS)


@pytest.mark.parametrize("words", RUNS)
def test_a_command_runs(storage: Storage, folder: Path, words: str) -> None:
    code, text = RUNS[words]
    found, output = ended(storage, folder, *words.split())
    assert (found, text in output) == (code, True), output
    assert "Traceback" not in output


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_prints_its_help(storage: Storage, folder: Path, name: str) -> None:
    code, output = ended(storage, folder, name, "--help")
    assert code == 0, output
    assert f"productionstack-status-reporter {name}" in output.replace("[run]", "run")


@pytest.mark.parametrize(
    ("env", "code", "text"),
    [
        ({}, 0, "Usage:"),
        (
            {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"},
            2,
            "in-cluster account in /var/run/secrets/",
        ),
        ({"JOB_NAME": "check", "POD_NAME": "check-7xk2p"}, 1, "JOB_NAMESPACE: required"),
    ],
)
def test_without_arguments_it_is_what_its_environment_asks_for(
    storage: Storage, folder: Path, env: dict[str, str], code: int, text: str
) -> None:
    found, output = ended(storage, folder, env=env)
    assert (found, text in output) == (code, True), output


def _own_files(folder: Path) -> Path:
    own = folder / "own"
    own.mkdir()
    items = list(manifests(NOW))
    for each in items:
        if each["kind"] == "Deployment" and each["metadata"]["name"] == "kaito-workspace":
            each["spec"]["replicas"] = 0
    (own / "dump.json").write_text(
        json.dumps({"kind": "List", "apiVersion": "v1", "items": items})
    )
    (overlay,) = OVERLAY.findall((REPOSITORY / "docs" / "own-reasons.md").read_text("utf-8"))
    (own / "overlay.yaml").write_text(overlay)
    own.chmod(0o755)
    return own
