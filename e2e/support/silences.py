"""Silences as operators write them: in a mounted file, on an InferenceSet, and by the command."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from e2e.controlplane import Client
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import ReporterProcess
from reporter.kinds.resource_kind import SILENCE_FIELDS, SILENCE_PREFIX
from tests.support.command_line import run_command_line
from tests.support.mounted_file import MountedFile


HOUR = timedelta(hours=1)
SLOW = 60
"""The time limit in seconds of what takes a few: the file is looked at every five."""


def mount(folder: Path) -> MountedFile:
    return MountedFile(folder, render(), name="silences.yaml")


def render(*silences: dict[str, Any]) -> str:
    return json.dumps({"silences": silences})


def in_future(span: timedelta) -> str:
    return (datetime.now(UTC) + span).strftime("%Y-%m-%dT%H:%M:%SZ")


def entry(number: int, span: timedelta) -> dict[str, Any]:
    """Return an entry of the file that silences one InferenceSet."""
    namespace, _, name = inference_sets.name(number).partition("/")
    place = {"namespace": namespace, "inferenceset": name}
    return {**place, "reasons": [INVALID_REASON], "until": in_future(span), "by": "alice"}


def annotate(client: Client, number: int, *, until: str, reasons: str = INVALID_REASON) -> None:
    values = {"until": until, "reasons": reasons, "by": "alice"}
    _annotate(client, number, values)


def take_back(client: Client, number: int) -> None:
    _annotate(client, number, dict.fromkeys(SILENCE_FIELDS))


def _annotate(client: Client, number: int, values: dict[str, Any]) -> None:
    annotations = {SILENCE_PREFIX + field: value for field, value in values.items()}
    client.patch(inference_sets.path(number), {"metadata": {"annotations": annotations}})


def run_command(kubeconfig: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command ``silence`` as alice does."""
    return run_command_line("silence", *arguments, f"--kubeconfig={kubeconfig}", USER="alice")


def until_silenced(reporter: ReporterProcess, number: int) -> None:
    inference_sets.wait_state(reporter, number, "silenced", within=SLOW)
