"""
Whether a node that hosts a model runs short of memory, disk or process ids.

By default no right to read Nodes is had: KAITO appends what kubelet reports to the message of a
Workspace's NodesReady condition, whose status and transition time do not change.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.conditions import find_condition
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.kinds.kaito.workspaces import WORKSPACES, Workspace
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.stages.probes.probe import NoParameters, Probe, ProbeRequest
from reporter.stages.resources.check_result import CheckResult, to_verdict
from reporter.stages.resources.conditions import check_observed_generation
from reporter.stages.resources.kaito.inference_sets import (
    check_all_decoded,
    find_model_pods,
    find_workspaces,
    get_inference_set,
    without_leftover_pods,
    workspace_ref,
)
from reporter.stages.resources.kaito.nodes import NODES_READY
from reporter.stages.resources.workloads.deployments import Inconclusive
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.phrases import abbreviate_list


PRESSURE_MARKER = "worker node(s) under resource pressure:"
PRESSURES = ("Memory", "Disk", "PID")
"""
Worst first: kubelet evicts for each, and kills for the first.
"""

_PRESSURE = "(?:Disk|Memory|PID)Pressure"
NODE_PATTERN = re.compile(rf"([a-z0-9][a-z0-9.-]{{0,252}}) \(({_PRESSURE}(?:, {_PRESSURE})*)\)")


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    yield to_verdict(snapshot, question.key(), _find_troubles(snapshot, question.subject))


def _find_troubles(snapshot: Snapshot, subject: Subject) -> Sequence[CheckResult]:
    if get_inference_set(snapshot, subject) is None:
        return []
    replicas = find_workspaces(snapshot, subject)
    late = check_all_decoded(snapshot, WORKSPACES, subject, replicas)
    if late:
        return [late]
    nodes: defaultdict[str, set[str]] = defaultdict(set)
    unnamed: list[Trouble] = []
    for each in replicas:
        read = _parse_pressures(each)
        if isinstance(read, Inconclusive):
            return [read]
        for name, pressures in (read or {}).items():
            nodes[name] |= pressures
        unnamed += [_unnamed_node_trouble(each)] if read is not None and not read else []
    if not nodes:
        return unnamed
    pods = without_leftover_pods(find_model_pods(snapshot, subject))
    return [*(_pressure_trouble(name, nodes[name], pods) for name in sorted(nodes)), *unnamed]


def _parse_pressures(workspace: Workspace) -> Mapping[str, set[str]] | Inconclusive | None:
    """
    Pressures by node; empty if KAITO says that there are some and the names are cut off.
    """
    meta, found = workspace.metadata, find_condition(workspace.status.conditions, NODES_READY)
    if found is None:
        return None
    late = check_observed_generation(found, meta, f"Workspace {meta.namespace}/{meta.name}")
    _, marked, text = (found.message or "").partition(PRESSURE_MARKER)
    if late or not marked:
        return late
    return {name: set(kinds.split(", ")) for name, kinds in NODE_PATTERN.findall(text)}


def _pressure_trouble(node: str, pressures: set[str], pods: Sequence[Pod]) -> Trouble:
    here = [pod.metadata.name for pod in pods if pod.spec.node_name == node]
    plural = "pods" if len(here) > 1 else "pod"
    code = ".".join(kind for kind in PRESSURES if f"{kind}Pressure" in pressures)
    return Trouble(
        cause=Cause(ObjectRef("nodes", "", node), code),
        kind=TroubleKind.FAILED,
        message_fields={
            "node": node,
            "pressure": ", ".join(sorted(pressures)),
            "pod": f"{plural} {abbreviate_list(here)}" if here else "its model pods",
        },
    )


def _unnamed_node_trouble(workspace: Workspace) -> Trouble:
    name = workspace.metadata.name
    return Trouble(
        cause=Cause(workspace_ref(workspace), "Unnamed"),
        kind=TroubleKind.FAILED,
        message_fields={
            "node": f"of Workspace {name}",
            "pressure": "its NodesReady condition tells which",
            "pod": "its model pods",
        },
    )


PROBE = Probe(
    ProbeSpec(
        name="node-pressure",
        parameters_type=NoParameters,
        message_fields=frozenset({"node", "pressure", "pod"}),
        cause_codes=frozenset({*PRESSURES, "Unnamed"}),
        required_kinds=(INFERENCE_SETS, WORKSPACES),
        optional_kinds=(PODS, NAMESPACES),
        required_crds=lambda _: frozenset(
            {INFERENCE_SETS.group_resource, WORKSPACES.group_resource}
        ),
        pauses_at_zero_replicas=True,
    ),
    evaluate,
)
