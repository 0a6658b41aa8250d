"""
Whether a node that hosts a model runs short of memory, disk or process ids.

By default no right to read Nodes is had: KAITO appends what kubelet reports to the message of a
Workspace's NodesReady condition, whose status and transition time do not change.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from reporter.model.entries import ProbeSpec
from reporter.model.kaito_objects import Workspace
from reporter.model.kinds import INFERENCE_SETS, NAMESPACES, PODS, WORKSPACES
from reporter.model.objects import Pod, condition
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.model.words import Kind
from reporter.stages.conditions import stale
from reporter.stages.deployments import Stale
from reporter.stages.models import (
    counted,
    inference_set,
    model_pods,
    reference,
    unread,
    workspaces,
)
from reporter.stages.nodes import NODES
from reporter.stages.probes.probe import NoParameters, Probe, Question
from reporter.stages.ruling import Found, ruling
from reporter.stages.snapshot import Snapshot
from reporter.stages.wording import listed


MARK = "worker node(s) under resource pressure:"
PRESSURES = ("Memory", "Disk", "PID")
"""
Worst first: kubelet evicts for each, and kills for the first.
"""

_ONE = "(?:Disk|Memory|PID)Pressure"
NODE = re.compile(rf"([a-z0-9][a-z0-9.-]{{0,252}}) \(({_ONE}(?:, {_ONE})*)\)")


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    yield ruling(snapshot, question.key(), _found(snapshot, question.subject))


def _found(snapshot: Snapshot, subject: Subject) -> Sequence[Found]:
    if inference_set(snapshot, subject) is None:
        return []
    replicas = workspaces(snapshot, subject)
    late = unread(snapshot, WORKSPACES, subject, replicas)
    if late:
        return [late]
    nodes: defaultdict[str, set[str]] = defaultdict(set)
    unnamed: list[Trouble] = []
    for each in replicas:
        read = _read(each)
        if isinstance(read, Stale):
            return [read]
        for name, pressures in (read or {}).items():
            nodes[name] |= pressures
        unnamed += [_unnamed(each)] if read is not None and not read else []
    if not nodes:
        return unnamed
    pods = counted(model_pods(snapshot, subject))
    return [*(_trouble(name, nodes[name], pods) for name in sorted(nodes)), *unnamed]


def _read(workspace: Workspace) -> Mapping[str, set[str]] | Stale | None:
    """
    Pressures by node; empty if KAITO says that there are some and the names are cut off.
    """
    meta, found = workspace.metadata, condition(workspace.status.conditions, NODES)
    if found is None:
        return None
    late = stale(found, meta, f"Workspace {meta.namespace}/{meta.name}")
    _, marked, text = (found.message or "").partition(MARK)
    if late or not marked:
        return late
    return {name: set(kinds.split(", ")) for name, kinds in NODE.findall(text)}


def _trouble(node: str, pressures: set[str], pods: Sequence[Pod]) -> Trouble:
    here = [pod.metadata.name for pod in pods if pod.spec.node_name == node]
    plural = "pods" if len(here) > 1 else "pod"
    code = ".".join(kind for kind in PRESSURES if f"{kind}Pressure" in pressures)
    return Trouble(
        cause=Cause(ObjectRef("nodes", "", node), code),
        kind=Kind.FAILED,
        fields={
            "node": node,
            "pressure": ", ".join(sorted(pressures)),
            "pod": f"{plural} {listed(here)}" if here else "its model pods",
        },
    )


def _unnamed(workspace: Workspace) -> Trouble:
    name = workspace.metadata.name
    return Trouble(
        cause=Cause(reference(workspace), "Unnamed"),
        kind=Kind.FAILED,
        fields={
            "node": f"of Workspace {name}",
            "pressure": "its NodesReady condition tells which",
            "pod": "its model pods",
        },
    )


PROBE = Probe(
    ProbeSpec(
        name="node-pressure",
        parameters=NoParameters,
        fields=frozenset({"node", "pressure", "pod"}),
        codes=frozenset({*PRESSURES, "Unnamed"}),
        requires=(INFERENCE_SETS, WORKSPACES),
        uses=(PODS, NAMESPACES),
        demands=lambda _: frozenset({INFERENCE_SETS.qualified, WORKSPACES.qualified}),
        pauses=True,
    ),
    judge,
)
