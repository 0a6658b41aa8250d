"""The example stack on the pure core, with odd objects put into it as a watch would bring them."""

import json
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from hypothesis import strategies as st

from devcluster.example.stack import manifests
from reporter.controller.watched_kinds import crds_to_track
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.evaluation.finished_pass import StateTracker
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.error_mapping import RequestInfo
from reporter.kube.errors import KubeError
from reporter.kube.watch_events import (
    Bookmark,
    Delete,
    UndecodableObject,
    Upsert,
    WatchEvent,
    decode_watch_event,
)
from reporter.metrics.state_log import StateLog
from reporter.model.observations import DiscoveryResult
from reporter.process.log_format import JsonFormatter, TextFormatter
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.status.diagnosis import StateHistory, render_diagnosis
from tests.fuzz.json_strategies import mutated, of_type, perturbed
from tests.fuzz.odd_values import Body, encoded
from tests.support.builders import NOON, a_store
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import metrics_text, some_metrics
from tests.support.replay import Replay


BY_KIND = {kind.kind: kind for kind in DEFAULT_KINDS}
UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TYPES = st.sampled_from(["ADDED", "ADDED", "MODIFIED", "DELETED"])
WAITS = st.sampled_from([0.0, 1.0, 40.0, 400.0])
SERVED = {kind.group_resource: kind.versions for kind in DEFAULT_KINDS}
CRDS = {crd: SERVED.get(crd, ("v1",)) for crd in sorted(crds_to_track(DEFAULT_CATALOGUE))}
POLICY = {
    "apiVersion": "cilium.io/v2",
    "kind": "CiliumNetworkPolicy",
    "metadata": {
        "name": "inference-pods-ingress",
        "namespace": "team-a",
        "labels": {"kaito.sh/owned-by": "modelharness"},
    },
    "spec": {
        "endpointSelector": {"matchLabels": {"kaito.sh/owned-by": "modeldeployment"}},
        "ingress": [
            {"fromEndpoints": [{}, {"matchLabels": {"k8s:io.kubernetes.pod.namespace": "keda"}}]}
        ],
    },
    "status": {"conditions": [{"type": "Valid", "status": "True"}]},
}


@cache
def objects() -> tuple[tuple[ResourceKind, Any], ...]:
    """Return the objects as the API shows them, an hour old and the same in every run."""
    uids: dict[str, str] = {}
    found = [*(m for m in manifests(NOON) if m["kind"] in BY_KIND), POLICY]
    of_stack = {m["kind"] for m in found}
    found += [_bare(kind) for kind in DEFAULT_KINDS if kind.kind not in of_stack]
    text = UID.sub(lambda uid: uids.setdefault(uid[0], f"uid-{len(uids)}"), json.dumps(found))
    return tuple((BY_KIND[m["kind"]], m) for m in json.loads(text))


def _bare(kind: ResourceKind) -> dict[str, Any]:
    """Build an object of a kind of which the example stack has none."""
    version = f"{kind.group}/{kind.versions[0]}".removeprefix("/")
    metadata = {"name": "example", "namespace": "team-a", "uid": "uid-example"}
    return {"apiVersion": version, "kind": kind.kind, "metadata": metadata}


@cache
def names() -> tuple[str, ...]:
    every = [m["metadata"] for _, m in objects()]
    return tuple(sorted({m[at] for m in every for at in ("name", "namespace", "uid") if at in m}))


@dataclass(frozen=True)
class WatchLine:
    """One line of a watch, some seconds after the one before."""

    wait: float
    kind: ResourceKind
    body: Body

    def change(self) -> WatchEvent | None:
        """
        Return the event; None if it cannot be decoded, or for a name that no API server accepts.
        """
        try:
            event = decode_watch_event(
                self.body, self.kind, RequestInfo(f"watch {self.kind.group_resource}")
            )
        except KubeError:
            return None
        if isinstance(event, Bookmark) or "".join(event.name).isprintable():
            return event
        return None


@st.composite
def lines(draw) -> WatchLine:
    """A watch line of an existing object, changed for the worse, or of an invented one."""
    of_kind = draw(st.sampled_from(DEFAULT_KINDS))
    kind, manifest = draw(st.sampled_from([each for each in objects() if each[0] == of_kind]))
    how = draw(st.integers(0, 5))
    if how < 3:
        value = draw(perturbed(manifest))
    elif how == 3:
        value = draw(mutated(manifest))
    else:
        value = draw(of_type(kind.type, names=names()))
        if isinstance(value, dict) and draw(st.booleans()):
            value["metadata"] = draw(st.just(manifest["metadata"]) | mutated(manifest["metadata"]))
    raw = encoded({"type": draw(TYPES), "object": value})
    return WatchLine(draw(WAITS), kind, raw)


stories = st.lists(lines(), min_size=1, max_size=6)


class StackReplay(Replay):
    """
    A replay that begins with the objects of *first*. After each pass all its consequences are
    carried out: Events, the page /status, metrics and logs.
    """

    def __init__(self, first: Sequence[WatchLine] = ()) -> None:
        self._first = first
        super().__init__(DEFAULT_CATALOGUE, EvaluationSettings(heartbeat=timedelta(hours=1)))

    def __post_init__(self):
        self.evaluator = Evaluator(DEFAULT_CATALOGUE, PROBES, DEFAULT_FLAGS, self.settings)
        self.subjects = ALL_LAYERS
        self.store = a_store(crds=tuple(CRDS))
        self.store.record_discovery(DiscoveryResult(CRDS), "", now=NOON)
        self.history = StateHistory(lambda: self.now)
        self.log = StateLog()
        self.tracker = StateTracker()
        self.metrics = some_metrics(DEFAULT_CATALOGUE)
        self.pages: list[str] = []
        for kind, manifest in objects():
            self.apply_line(WatchLine(0.0, kind, encoded({"type": "ADDED", "object": manifest})))
        for line in self._first:
            self.apply_line(line)
        self.run_pass()

    def apply_line(self, line: WatchLine) -> None:
        match line.change():
            case Upsert(object=new):
                self.store.upsert(line.kind, new)
            case Delete(name=(namespace, name)):
                self.store.delete(line.kind, namespace, name)
            case UndecodableObject(name=(namespace, name)):
                self.store.mark_undecodable(line.kind, namespace, name)

    def run_pass(self):
        super().run_pass()
        finished = finished_pass(self.evaluation, self.tracker)
        for each in (self.history, self.log, self.metrics):
            each.follow(finished)
        shown = render_diagnosis(
            self.context,
            self.store.snapshot(),
            since=self.history.freeze(),
            process={"leading": True},
        )
        self.pages = ["".join(shown), metrics_text(self.metrics)]
        return self

    def run(self, story: list[WatchLine]) -> "StackReplay":
        for line in story:
            self.advance(line.wait)
            self.apply_line(line)
            self.run_pass()
        return self.advance(2_000.0)


def _always_leader() -> bool:
    return True


class FormattedLines(logging.Handler):
    """Keep log lines in their written form."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += [form().format(record) for form in (TextFormatter, JsonFormatter)]


def strings(value: Any) -> Iterator[str]:
    """Return all texts in a decoded JSON value."""
    match value:
        case str():
            yield value
        case dict():
            for key, each in value.items():
                yield from (key, *strings(each))
        case list():
            for each in value:
                yield from strings(each)
