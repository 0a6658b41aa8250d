"""
The objects of a story, from the few words that a case file says of each.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from reporter.model.kinds import (
    DEPLOYMENTS,
    KINDS,
    KINDS_OF_SOURCES,
    NAMESPACES,
    PODS,
    WORKSPACES,
    ResourceKind,
)
from reporter.model.objects import ApiObject, Condition
from reporter.stages.subjects import GATEWAY_NAME, PICKER_SUFFIX
from tests.builders import NOON, a_deployment, a_namespace, a_pod
from tests.stories import models
from tests.stories.words import each_of, merged, span, timed


FULL = frozenset({"metadata", "spec", "status"})
"""
With one of these, what is said of an object is a part of it as the API shows it.
"""


@dataclass(frozen=True)
class Address:
    kind: ResourceKind
    namespace: str
    name: str

    @classmethod
    def of(cls, text: str) -> "Address":
        """
        ``Deployment kaito-system/body-based-router`` or ``Namespace kaito-system``.
        """
        kind, _, where = text.partition(" ")
        namespace, _, name = where.rpartition("/")
        known = (*KINDS, *KINDS_OF_SOURCES)
        found = [each for each in known if each.kind == kind]
        assert found, f"{text}: known kinds are {', '.join(k.kind for k in known)}"
        return cls(found[0], namespace, name)


@dataclass
class World:
    """
    What was said of each object so far; what is said later is merged into it.
    """

    said: dict[Address, dict] = field(default_factory=dict)
    born: dict[Address, datetime] = field(default_factory=dict)
    ready: dict[Address, tuple[bool, datetime]] = field(default_factory=dict)
    runs: dict[Address, tuple[int, datetime | None]] = field(default_factory=dict)
    stated: dict[Address, tuple[Condition, ...]] = field(default_factory=dict)

    def change(
        self, changes: Mapping[str, Mapping | None], *, now: datetime
    ) -> Iterator[tuple[Address, ApiObject | None]]:
        for text, words in each_of(changes):
            address = Address.of(text)
            if words is None:
                self.said.pop(address, None)
                self.born.pop(address, None)
                self.ready.pop(address, None)
                self.runs.pop(address, None)
                self.stated.pop(address, None)
                yield address, None
                continue
            self.born.setdefault(address, now)
            self.said[address] = merged(self.said.get(address, {}), words)
            yield address, self._object(address, now=now)

    def _object(self, address: Address, *, now: datetime) -> ApiObject:
        words = dict(self.said[address])
        age = words.pop("age", None)
        born = self.born[address] if age is None else now - span(age)
        if not FULL & words.keys():
            if address.kind is DEPLOYMENTS:
                return _deployment(address, words, born=born, now=now)
            if address.kind is PODS:
                return self._pod(address, words, born=born, now=now)
            if address.kind is WORKSPACES:
                return self._workspace(address, words, born=born, now=now)
        if address.kind is NAMESPACES and not words:
            return a_namespace(address.name)
        return _full(address, words, born=born, now=now)

    def _pod(self, address: Address, words: dict, *, born: datetime, now: datetime) -> ApiObject:
        ready = words.get("ready", "unschedulable" not in words)
        was, since = self.ready.get(address, (ready, born))
        self.ready[address] = (ready, since if was == ready else now)
        since, restarts = self.ready[address][1], words.get("restarts", 0)
        before, run = self.runs.get(address, (restarts, None))
        self.runs[address] = (restarts, run if before == restarts else now)
        running = self.runs[address][1] or since
        if "model" not in words:
            words = {"labels": self._template(address), **words}
        return _pod(address, words, born=born, since=since, running=running, now=now)

    def _template(self, address: Address) -> Mapping[str, str]:
        """
        The labels by which Istio and the chart of an endpoint picker find their pods.
        """
        owner = Address(DEPLOYMENTS, address.namespace, _workload(address))
        if owner.name.endswith(PICKER_SUFFIX):
            return {"inferencepool": owner.name}
        labels = self.said.get(owner, {}).get("labels", {})
        return {GATEWAY_NAME: labels[GATEWAY_NAME]} if GATEWAY_NAME in labels else {}

    def _workspace(
        self, address: Address, words: dict, *, born: datetime, now: datetime
    ) -> ApiObject:
        before = self.stated.get(address, ())
        if "upgrade" in words:
            words["upgrade"] = (NOON + span(words["upgrade"])).isoformat()
        meta = {"namespace": address.namespace, "born": born}
        made = models.workspace(address.name, words, before, now=now, **meta)
        self.stated[address] = made.status.conditions or ()
        return made


def _deployment(address: Address, words: dict, *, born: datetime, now: datetime) -> ApiObject:
    """
    *rollout*: reason of Progressing. *refused*: message of ReplicaFailure. *stale*: its status is.
    """
    rollout = words.pop("rollout", "NewReplicaSetAvailable")
    status = {"ProgressDeadlineExceeded": "False", "DeploymentPaused": "Unknown"}
    conditions = [("Progressing", status.get(rollout, "True"), rollout)]
    if "refused" in words:
        conditions.append(("ReplicaFailure", "True", "FailedCreate", words.pop("refused")))
    if words.pop("stale", False):
        words |= {"generation": 2, "observed": 1}
    if words.pop("deleting", False):
        words["deleted"] = now
    words.setdefault("replicas", 1)
    return a_deployment(address.name, address.namespace, born=born, conditions=conditions, **words)


def _pod(
    address: Address,
    words: dict,
    *,
    born: datetime,
    since: datetime,
    running: datetime,
    now: datetime,
) -> ApiObject:
    """
    Named ``<deployment>-<hash>-<suffix>``. *unschedulable*, *disrupted*: message and reason.
    """
    conditions = []
    if "unschedulable" in words:
        why = words.pop("unschedulable")
        conditions.append(("PodScheduled", "False", "Unschedulable", why))
        words |= {"ready": False, "containers": False, "phase": "Pending"}
    if "disrupted" in words:
        conditions.append(("DisruptionTarget", "True", words.pop("disrupted")))
    if words.pop("deleting", False):
        words["deleted"] = now
    times = {"born": born, "started": born, "since": since, "running": running}
    plain = {key.replace("-", "_"): value for key, value in words.items()}
    if "model" in plain:
        made = {**times, **plain, "conditions": conditions}
        return models.pod(address.name, made, namespace=address.namespace)
    return a_pod(
        address.name,
        address.namespace,
        workload=_workload(address),
        conditions=conditions,
        **{**times, **plain},
    )


def _workload(pod: Address) -> str:
    return pod.name.rpartition("-")[0].rpartition("-")[0]


def _full(address: Address, words: dict, *, born: datetime, now: datetime) -> ApiObject:
    metadata = {
        "name": address.name,
        "namespace": address.namespace,
        "uid": f"uid-{address.name}",
        "generation": 1,
        "creationTimestamp": born.isoformat(),
    }
    whole = merged({"metadata": metadata}, words)
    text = msgspec.json.encode(timed(whole, now=now))
    return msgspec.json.decode(text, type=address.kind.type)


def healthy_pods(deployments: Iterable[tuple[str, Mapping]]) -> Mapping[str, Mapping]:
    """
    A Ready pod for each replica: ``<deployment>-6c9f-x1``, ``-x2`` and so on.
    """
    return {
        f"Pod {text.removeprefix('Deployment ')}-6c9f-x{number}": {}
        for text, words in deployments
        if text.startswith("Deployment ")
        for number in range(1, words.get("replicas", 1) + 1)
    }
