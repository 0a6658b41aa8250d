"""The status by one reading of the cluster, compared with what was announced."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from e2e.controlplane import ControlPlane
from e2e.support.cases.cluster_replay import FLAGS
from e2e.support.cases.pointer_comparison import AnnouncedRoot, suppressed_in
from e2e.support.cases.short_holds import ReplayDelays, overlay
from reporter.cli.configuration import load_configuration
from reporter.kube.connect import connect
from reporter.model.enums import Layer, Reason
from reporter.model.status_document import Blocking, StatusDocument
from reporter.process.clock import Clock
from reporter.status.observations import Observations
from reporter.status.one_shot import OneShotStatus
from reporter.status.one_shot_cluster import read_cluster
from reporter.status.source import EVERYTHING


LATER = (timedelta(0), timedelta(seconds=2), timedelta(seconds=60))
"""
Moment at which the reading is evaluated: trouble without a time of its writer is held at first.
"""

_LINE = re.compile(r"(?P<type>Warning|Normal) (?P<reason>\w+) \w+/(?P<involved>[a-z0-9.-]+)")


class CaseStatus:
    """Collects the *differences* between the status and the announcements of a case."""

    def __init__(self, plane: ControlPlane, case: Mapping[str, Any], delays: ReplayDelays) -> None:
        flags = dict(case.get("flags", {}))
        self._plane, self._announces_all = plane, flags.get("emission") == "all"
        given = [f"--{name}={value}" for name, value in flags.items()]
        brief = (overlay(plane.folder, case, delays), delays.flag)
        arguments = [*FLAGS, *brief, *given, "--scrape=off"]
        self._settings, self._catalogue = load_configuration(arguments, {})
        self.differences: list[str] = []

    def compare(self, lines: list[str]) -> None:
        """Compare the status with the last line about each subject."""
        wanted = dict(self._wanted(lines))
        if not wanted or self._announces_all:
            return
        documents = asyncio.run(self._documents())
        for root in self._roots(lines):
            self.differences += root.differences(documents)
        for (layer, involved), reason in wanted.items():
            named = {
                each for document in documents for each in named_in(document, layer, involved)
            }
            if reason not in named:
                what = f"{layer} {involved}: announced {reason}, the status names {sorted(named)}"
                self.differences.append(what)

    def _wanted(self, lines: list[str]) -> Iterator[tuple[tuple[Layer, str], str]]:
        """Yield the reasons that decide about a state."""
        for line in lines:
            found = _LINE.match(line)
            assert found is not None, line
            entry = self._catalogue[Reason(found["reason"])]
            involved = "" if entry.layer is Layer.CLUSTER else found["involved"]
            if found["type"] == "Warning" and self._decides(entry.reason):
                yield (entry.layer, involved), entry.reason

    def _roots(self, lines: list[str]) -> Iterator[AnnouncedRoot]:
        """Yield the causes that suppress others, as the last line about each subject has it."""
        last: dict[tuple[Layer, str], tuple[str, re.Match[str]]] = {}
        for line in lines:
            found = _LINE.match(line)
            assert found is not None, line
            layer = self._catalogue[Reason(found["reason"])].layer
            last[layer, "" if layer is Layer.CLUSTER else found["involved"]] = line, found
        for (layer, namespace), (line, found) in last.items():
            suppressed = frozenset(filter(self._decides, suppressed_in(line)))
            if found["type"] == "Warning" and suppressed:
                yield AnnouncedRoot(layer, namespace, found["reason"], suppressed)

    def _decides(self, reason: str) -> bool:
        """Return whether a reason decides about a state. One reading has no metrics pages."""
        entry = self._catalogue.entries.get(Reason(reason))
        return entry is not None and not entry.orthogonal and not self._needs_pages(reason)

    def _needs_pages(self, reason: str) -> bool:
        status = OneShotStatus(self._settings, self._catalogue)
        return reason in {each.reason for each in status.not_judged}

    async def _documents(self) -> list[StatusDocument]:
        api = await connect(str(self._plane.kubeconfig()), environ={})
        try:
            found = await read_cluster(api, self._settings, self._catalogue, Clock())
        finally:
            await api.close()
        return list(self._evaluated(found))

    def _evaluated(self, found: Observations) -> Iterator[StatusDocument]:
        status = OneShotStatus(self._settings, self._catalogue)
        for later in LATER:
            answer = status.answer(replace(found, at=found.at + later), EVERYTHING)
            assert answer.document is not None
            yield answer.document


def named_in(document: StatusDocument, layer: Layer, involved: str) -> Iterator[str]:
    """Yield the causes that the status names for the subjects of a layer in a namespace."""
    if layer is Layer.CLUSTER:
        yield from _reason(document.cluster.blocking if document.cluster is not None else None)
        return
    for namespace in document.namespaces:
        if namespace.name != involved:
            continue
        if layer is Layer.MODELHARNESS:
            harness = namespace.harness
            yield from _reason(harness.blocking if harness is not None else None)
        else:
            for each in namespace.inference_sets:
                yield from _reason(each.blocking)


def _reason(blocking: Blocking | None) -> Iterator[str]:
    if blocking is not None:
        yield blocking.reason
