"""
The example stack on the pure core, with odd objects put into it as a watch would bring them.
"""

import json
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from hypothesis import strategies as st

from reporter.embedded.stack import manifests
from reporter.kube.changes import Change, Drop, Put, Spoilt, read_event
from reporter.kube.errors import KubeError
from reporter.kube.translation import Asked
from reporter.model.kinds import KINDS, ResourceKind
from reporter.model.observations import Discovery
from reporter.runtime.rights import crds_of
from reporter.sinks.lines import JsonLines, TextLines
from reporter.sinks.log import StateLog
from reporter.sinks.metrics import Metrics
from reporter.sinks.status import History, page
from reporter.stages.judgement import Terms
from reporter.stages.pipeline import Court
from reporter.stages.probes import PROBES
from reporter.stages.probes.specs import SPECS
from reporter.stages.subjects import EVERYTHING
from tests.builders import NOON, a_store
from tests.fuzz.grammar import Body, encoded, mutated, of_type, worsened
from tests.play import Play
from tests.shipped import CATALOGUE, FLAGS


BY_KIND = {kind.kind: kind for kind in KINDS}
UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TYPES = st.sampled_from(["ADDED", "ADDED", "MODIFIED", "DELETED"])
PAUSES = st.sampled_from([0.0, 1.0, 40.0, 400.0])
SERVED = {kind.qualified: kind.versions for kind in KINDS}
CRDS = {crd: SERVED.get(crd, ("v1",)) for crd in sorted(crds_of(CATALOGUE, SPECS))}
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
    """
    As the API shows them, an hour old; the same in every run.
    """
    uids: dict[str, str] = {}
    found = [*(m for m in manifests(NOON) if m["kind"] in BY_KIND), POLICY]
    text = UID.sub(lambda uid: uids.setdefault(uid[0], f"uid-{len(uids)}"), json.dumps(found))
    return tuple((BY_KIND[m["kind"]], m) for m in json.loads(text))


@cache
def names() -> tuple[str, ...]:
    every = [m["metadata"] for _, m in objects()]
    return tuple(sorted({m[at] for m in every for at in ("name", "namespace", "uid") if at in m}))


@dataclass(frozen=True)
class Line:
    """
    One line of a watch, some seconds after the one before.
    """

    pause: float
    kind: ResourceKind
    raw: Body

    def change(self) -> Change | None:
        try:
            return read_event(self.raw, self.kind, Asked(f"watch {self.kind.qualified}"))
        except KubeError:
            return None


@st.composite
def lines(draw) -> Line:
    """
    Of an object that is there, changed for the worse; or of one that was made up.
    """
    of_kind = draw(st.sampled_from(KINDS))
    kind, manifest = draw(st.sampled_from([each for each in objects() if each[0] == of_kind]))
    how = draw(st.integers(0, 5))
    if how < 3:
        value = draw(worsened(manifest))
    elif how == 3:
        value = draw(mutated(manifest))
    else:
        value = draw(of_type(kind.type, names=names()))
        if isinstance(value, dict) and draw(st.booleans()):
            value["metadata"] = draw(st.just(manifest["metadata"]) | mutated(manifest["metadata"]))
    raw = encoded({"type": draw(TYPES), "object": value})
    return Line(draw(PAUSES), kind, raw)


stories = st.lists(lines(), min_size=1, max_size=6)


class Stack(Play):
    """
    What is *first* is there before the first pass. All that a pass leads to is done after each: Events, the status page, metrics and logs.
    """

    def __init__(self, first: Sequence[Line] = ()) -> None:
        self._first = first
        super().__init__(CATALOGUE, Terms(heartbeat=timedelta(hours=1)))

    def __post_init__(self):
        self.court = Court(CATALOGUE, PROBES, FLAGS, self.terms)
        self.subjects = EVERYTHING
        self.store = a_store(crds=tuple(CRDS))
        self.store.discovered(Discovery(CRDS), "", now=NOON)
        self.history = History(lambda: self.now, _leading)
        self.log = StateLog(_leading)
        self.metrics = Metrics(CATALOGUE, list)
        self.pages: list[str] = []
        for kind, manifest in objects():
            self.take(Line(0.0, kind, encoded({"type": "ADDED", "object": manifest})))
        for line in self._first:
            self.take(line)
        self.step()

    def take(self, line: Line) -> None:
        match line.change():
            case Put(object=new):
                self.store.put(line.kind, new)
            case Drop(name=(namespace, name)):
                self.store.drop(line.kind, namespace, name)
            case Spoilt(name=(namespace, name)):
                self.store.spoil(line.kind, namespace, name)

    def step(self):
        before = self.judged
        super().step()
        for each in (self.history, self.log, self.metrics):
            each.passed(before, self.judged, timedelta(milliseconds=1))
        shown = page(
            self.stage, self.store.view(), since=self.history.since(), process={"leading": True}
        )
        self.pages = ["".join(shown), self.metrics.page().decode()]
        return self

    def play(self, story: list[Line]) -> "Stack":
        for line in story:
            self.after(line.pause)
            self.take(line)
            self.step()
        return self.after(2_000.0)


def _leading() -> bool:
    return True


class Lines(logging.Handler):
    """
    What is logged, as it is written.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += [form().format(record) for form in (TextLines, JsonLines)]


def strings(value: Any) -> Iterator[str]:
    """
    All texts in what JSON decodes to.
    """
    match value:
        case str():
            yield value
        case dict():
            for key, each in value.items():
                yield from (key, *strings(each))
        case list():
            for each in value:
                yield from strings(each)
