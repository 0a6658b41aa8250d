"""
Every Event of the reporters as it was at any time: also what a later write replaced.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from e2e.controlplane import Json
from e2e.suite.cluster import ClusterUnderTest, kubectl
from e2e.suite.event_format import format_violations
from e2e.support.events import SOURCE


class EventRecording:
    """
    What users see who let kubectl watch. Each has a file of its own in *folder*.
    """

    def __init__(self, cluster: ClusterUnderTest, folder: Path) -> None:
        self._folder = folder
        number = len(list(folder.iterdir()))
        self._file = (folder / f"{number}.json").open("w")
        command = [
            *(kubectl(), f"--kubeconfig={cluster.kubeconfig}", "get", "events"),
            *("--namespace=kube-system", f"--field-selector=source={SOURCE}"),
            *("--watch", "--output=json"),
        ]
        self._process = subprocess.Popen(command, stdout=self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        self._file.close()

    def writes(self) -> list[Json]:
        """
        Of this recording and those before it, but what is being written just now.
        """
        return [each for file in sorted(self._folder.iterdir()) for each in _documents(file)]

    def violations(self) -> set[str]:
        """
        To any of them.
        """
        return {
            f"{each['reason']} x{each.get('count')}: {objection}"
            for each in self.writes()
            for objection in format_violations(each)
        }


def _documents(file: Path) -> Iterator[Json]:
    text, decoder, at = file.read_text(), json.JSONDecoder(), 0
    while at < len(text):
        try:
            found, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            return
        yield found
        at += len(text[at:]) - len(text[at:].lstrip())
