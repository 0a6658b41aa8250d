"""
Probe for nodes of a model that run short of memory, disk or process ids.

Of a Node only Ready is read. KAITO appends the pressure conditions of its Nodes to the message of a
Workspace's NodesReady condition, whatever its status is: the status and the transition time do not
change with it.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES, PODS, Pod
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES, Workspace
from reporter.kinds.objects import find_condition
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import abbreviate_list
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import inference_sets
from reporter.resources.check_result import CheckResult, Inconclusive
from reporter.resources.conditions import check_observed_generation
from reporter.resources.machines import NODES_READY
from reporter.snapshot.snapshot import Snapshot


PRESSURE_MARKER = "worker node(s) under resource pressure:"
PRESSURES = ("Memory", "Disk", "PID")
"""
The pressures in the order of a cause code's parts, worst first.

Kubelet evicts pods under each of them; under memory pressure the kernel may kill a process first.
"""

_PRESSURE = "(?:Disk|Memory|PID)Pressure"
NODE_PATTERN = re.compile(rf"([a-z0-9][a-z0-9.-]{{0,252}}) \(({_PRESSURE}(?:, {_PRESSURE})*)\)")


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Sequence[CheckResult]:
    """
    Return a trouble for each Node that KAITO names as under pressure, with the pods on it.

    A Workspace whose message is cut off before the names has one trouble of its own (Unnamed).
    """
    subject = request.subject
    if inference_sets.get_inference_set(snapshot, subject) is None:
        return []
    workspaces = inference_sets.find_workspaces(snapshot, subject)
    nodes: defaultdict[str, set[str]] = defaultdict(set)
    others: list[CheckResult] = []
    for workspace in workspaces:
        by_node = _parse_pressures(workspace)
        if isinstance(by_node, Inconclusive):
            others.append(by_node)
            continue
        if by_node is None:
            continue
        if not by_node:
            fields = {
                "node": f"of Workspace {workspace.metadata.name}",
                "pressure": "its NodesReady condition tells which",
                "pod": "its model pods",
            }
            cause = Cause(WORKSPACES.ref_to(workspace), "Unnamed")
            others.append(Trouble(cause=cause, kind=TroubleKind.FAILED, message_fields=fields))
        for name, pressures in by_node.items():
            nodes[name] |= pressures
    if not nodes:
        return others
    pods = inference_sets.without_leftover_pods(inference_sets.find_model_pods(snapshot, subject))
    return [*(_pressure_trouble(name, nodes[name], pods) for name in sorted(nodes)), *others]


def _parse_pressures(workspace: Workspace) -> Mapping[str, set[str]] | Inconclusive | None:
    """
    Return the pressures of each node under pressure, None if KAITO reports no pressure.

    The mapping is empty if KAITO reports pressure but the names are cut off the message.
    """
    meta = workspace.metadata
    nodes_ready = find_condition(workspace.status.conditions, NODES_READY)
    if nodes_ready is None:
        return None
    stale = check_observed_generation(nodes_ready, meta, "Workspace")
    _, marker, text = (nodes_ready.message or "").partition(PRESSURE_MARKER)
    if stale or not marker:
        return stale
    return {name: set(kinds.split(", ")) for name, kinds in NODE_PATTERN.findall(text)}


def _pressure_trouble(node: str, pressures: set[str], pods: Sequence[Pod]) -> Trouble:
    on_node = [pod.metadata.name for pod in pods if pod.spec.node_name == node]
    plural = "pods" if len(on_node) > 1 else "pod"
    code = ".".join(kind for kind in PRESSURES if f"{kind}Pressure" in pressures)
    return Trouble(
        cause=Cause(ObjectRef("nodes", "", node), code),
        kind=TroubleKind.FAILED,
        message_fields={
            "node": node,
            "pressure": ", ".join(sorted(pressures)),
            "pod": f"{plural} {abbreviate_list(on_node)}" if on_node else "its model pods",
        },
    )


PROBE = Probe(
    ProbeSpec(
        name="node-pressure",
        parameters_type=ProbeParameters,
        message_fields=frozenset({"node", "pressure", "pod"}),
        cause_codes=frozenset({*PRESSURES, "Unnamed"}),
        required_kinds=(INFERENCE_SETS, WORKSPACES),
        optional_kinds=(PODS, NAMESPACES),
        required_crds=crds_of(INFERENCE_SETS, WORKSPACES),
        pauses_at_zero_replicas=True,
    ),
    evaluate,
)
