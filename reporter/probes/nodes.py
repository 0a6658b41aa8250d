"""
Probe for several Nodes of the stack that were Ready and are not: one cause of many troubles.

A single Node is the trouble of the models on it. Nodes on which nothing of the stack runs do not
count: a cluster may have some that are switched off for good.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES, NODES, PODS, Pod
from reporter.kinds.kaito import WORKSPACES, Workspace
from reporter.kinds.objects import Condition, workload_subject
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import abbreviate_list
from reporter.model.subjects import CLUSTER_SUBJECT
from reporter.model.verdicts import Active, Cause, Clear, Trouble, Unknown, Verdict
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest
from reporter.resources.check_result import involved_namespace
from reporter.resources.conditions import reason_text
from reporter.resources.lost_nodes import describe_lost, find_lost_nodes
from reporter.snapshot.lookups import why_incomplete
from reporter.snapshot.snapshot import Snapshot


SEVERAL = 2
NAMESPACE_FLAG = "release-namespace"


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """
    Return one verdict: Active if two or more Nodes with pods or Workspaces of the stack were lost.

    Unknown if as many were lost, and it is not known of all pods and Workspaces on which Nodes they are.
    """
    lost = find_lost_nodes(snapshot)
    if len(lost) < SEVERAL:
        # Most passes end here: only then all pods are looked through.
        return [Clear(request.key())]
    users = _find_users(snapshot, lost)
    if len(users) < SEVERAL:
        why = _why_users_open(snapshot, request)
        return [Unknown(request.key(), why) if why else Clear(request.key())]
    involved = involved_namespace(snapshot, request.flags[NAMESPACE_FLAG])
    return [Active(request.key(), (_trouble(users, lost),), involved)]


def _find_users(snapshot: Snapshot, lost: Mapping[str, Condition]) -> Mapping[str, frozenset[str]]:
    """
    Return the models on each of these Nodes, as namespace/name; none for one with proxies alone.

    KAITO names the Nodes of a model whose pods are evicted.
    """
    users: defaultdict[str, set[str]] = defaultdict(set)
    for pod in snapshot.all(PODS):
        if isinstance(pod, Pod) and pod.spec.node_name in lost:
            subject = workload_subject(pod)
            if subject != CLUSTER_SUBJECT:
                models = {f"{subject.namespace}/{subject.name}"} if subject.name else set()
                users[pod.spec.node_name] |= models
    for each in snapshot.all(WORKSPACES) if snapshot.has_synced(WORKSPACES) else ():
        if isinstance(each, Workspace):
            for name in lost.keys() & set(each.status.worker_nodes or ()):
                users[name].add(f"{each.metadata.namespace}/{workload_subject(each).name}")
    return {name: frozenset(models) for name, models in users.items()}


def _why_users_open(snapshot: Snapshot, request: ProbeRequest) -> str:
    """Return why pods or Workspaces that are not known may be on further Nodes; empty if none may."""
    kinds = [each for each in (PODS, WORKSPACES) if each.table in snapshot.tables]
    whys = (why_incomplete(snapshot, each, now=request.now) for each in kinds)
    return next(filter(None, whys), "")


def _trouble(users: Mapping[str, frozenset[str]], lost: Mapping[str, Condition]) -> Trouble:
    models = frozenset[str]().union(*users.values())
    count = f"{len(models)} model{'s' if len(models) > 1 else ''}"
    on_them = f"; on them {count}: {abbreviate_list(list(models))}" if models else ""
    first = min(users)
    times = [lost[name].last_transition_time for name in users]
    return Trouble(
        cause=Cause(NODES.ref("", ""), "NotReady"),
        kind=TroubleKind.LOST,
        is_out=True,
        since=min(filter(None, times), default=None),
        message_fields={
            "nodes": f"{len(users)} {describe_lost(users)}",
            "why": reason_text(lost[first]),
            "models": on_them,
        },
        foreign_text=lost[first].message or "",
        nodes=frozenset(users),
    )


PROBE = Probe(
    ProbeSpec(
        name="nodes",
        parameters_type=ProbeParameters,
        message_fields=frozenset({"nodes", "why", "models"}),
        cause_codes=frozenset({"NotReady"}),
        required_kinds=(NODES, PODS),
        consulted_kinds=(WORKSPACES,),
        optional_kinds=(NAMESPACES,),
    ),
    evaluate,
)
