"""
A recording of every write of the reporters' Events, also of those that later writes replaced.
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
    """Records the output of `kubectl get events --watch` in a new file of *folder*."""

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
        Return the writes of this recording and those before it, except an incomplete last one.
        """
        return [event for file in sorted(self._folder.iterdir()) for event in _documents(file)]

    def reasons(self) -> set[str]:
        """Return the reasons of all writes."""
        return {event["reason"] for event in self.writes()}

    def violations(self) -> set[str]:
        """Return the format violations of all writes."""
        return {
            f"{event['reason']} x{event.get('count')}: {violation}"
            for event in self.writes()
            for violation in format_violations(event)
        }


def _documents(file: Path) -> Iterator[Json]:
    text, decoder, position = file.read_text(), json.JSONDecoder(), 0
    while position < len(text):
        try:
            document, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError:
            return
        yield document
        position += len(text[position:]) - len(text[position:].lstrip())
