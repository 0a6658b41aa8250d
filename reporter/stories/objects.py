"""The objects of a story, built from its short notation."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.kinds.kaito import WORKSPACES
from reporter.kinds.objects import ENDPOINT_PICKER_SUFFIX, GATEWAY_NAME_LABEL, ApiObject, Condition
from reporter.kinds.resource_kind import ResourceKind
from reporter.stories import built_objects
from reporter.stories.format import (
    START,
    StoryError,
    apply_merge_patch,
    expand_numbered,
    parse_duration,
)


# --------------------------------------------------------------------
# The addresses of objects in a story.


OWN_KINDS = (*DEFAULT_KINDS, *OPTIONAL_KINDS)


@dataclass(frozen=True)
class ObjectAddress:
    """
    The address of an object. *kind*: one of its resource; *parse* takes this program's own, if it has one.
    """

    kind: ResourceKind
    namespace: str
    name: str

    @classmethod
    def parse(
        cls, text: str, declared: Sequence[ResourceKind] = (), *, is_own: bool = False
    ) -> "ObjectAddress":
        """
        Parse ``Deployment kaito-system/body-based-router`` or ``Namespace kaito-system``.

        *declared*: the kinds that the catalogue of the case declares, some with another name. One of
        another group is meant before the program's own kind of that name, unless *is_own*. Raises StoryError
        for an unknown kind, or without a name.
        """
        kind, _, where = text.partition(" ")
        namespace, _, name = where.rpartition("/")
        known = (*OWN_KINDS, *declared) if is_own else (*declared, *OWN_KINDS)
        named = [each for each in declared if each.alias.partition("/")[2] == kind]
        found = named or [each for each in known if each.kind == kind and not _has_name(each)]
        if not found:
            raise StoryError(f"{text}: known kinds are {', '.join(k.kind for k in known)}")
        if not name:
            raise StoryError(f"{text}: is no object such as `Deployment kaito-system/router`")
        return cls(found[0], namespace, name).at((*OWN_KINDS, *declared))[0]

    def at(self, kinds: Iterable[ResourceKind]) -> "list[ObjectAddress]":
        """Return the address of the same object for each of these kinds that is of its resource."""
        resource = self.kind.group_resource
        return [
            ObjectAddress(each, self.namespace, self.name)
            for each in kinds
            if each.group_resource == resource
        ]


def _has_name(kind: ResourceKind) -> bool:
    return kind.alias.partition("/")[2] not in {"", "declared"}


API_FIELDS = frozenset({"metadata", "spec", "status"})
"""Fields that mark a description as a part of the object as the API shows it."""


@dataclass(frozen=True)
class ContainerRuns:
    """The runs of a pod's first container: when the present one started, and the one before it."""

    restarts: int
    started: datetime | None = None
    last_started: datetime | None = None

    def after(self, restarts: int, *, since: datetime, now: datetime) -> "ContainerRuns":
        """
        Return the runs after so many restarts. *since*: the start of a run that is not recorded.
        """
        if restarts == self.restarts:
            return self
        # When the runs between two numbers of restarts started is not known.
        follows = restarts == self.restarts + 1
        return ContainerRuns(restarts, now, (self.started or since) if follows else None)


@dataclass
class StoryObjects:
    """
    The description of each object so far. A later description is merged into it.

    *declared*: the kinds that the catalogue declares. *own*: addresses of objects of this program's
    kinds, also if one of that name is declared. *watched*: the kinds whose watches deliver objects;
    None for each object once, as it is in the cluster.
    """

    declared: Sequence[ResourceKind] = ()
    own: Collection[str] = ()
    watched: Sequence[ResourceKind] | None = None
    words: dict[ObjectAddress, dict[str, Any]] = field(default_factory=dict)
    created_at: dict[ObjectAddress, datetime] = field(default_factory=dict)
    ready: dict[ObjectAddress, tuple[bool, datetime]] = field(default_factory=dict)
    runs: dict[ObjectAddress, ContainerRuns] = field(default_factory=dict)
    conditions: dict[ObjectAddress, tuple[Condition, ...]] = field(default_factory=dict)
    deletions: Counter[ObjectAddress] = field(default_factory=Counter)

    def change(
        self, changes: Mapping[str, Mapping[str, Any] | None], *, now: datetime
    ) -> Iterator[tuple[ObjectAddress, ApiObject | None]]:
        """
        Apply the changes, and yield each object as each watch of it has it now.

        None stands for one that is deleted, or that the selector of the watch leaves out. Raises StoryError
        for a description that means nothing.
        """
        for text, words in expand_numbered(changes):
            address = ObjectAddress.parse(text, self.declared, is_own=text in self.own)
            watches = [address] if self.watched is None else address.at(self.watched)
            if words is None:
                self._forget(address)
                yield from ((each, None) for each in watches)
                continue
            self.created_at.setdefault(address, now)
            self.words[address] = apply_merge_patch(self.words.get(address, {}), words)
            try:
                seen = self._seen(address, watches, now=now)
            except (StoryError, msgspec.ValidationError) as err:
                raise StoryError(f"{text}: {err}") from err
            yield from zip(watches, seen, strict=True)

    def _forget(self, address: ObjectAddress) -> None:
        self.deletions[address] += 1
        self.words.pop(address, None)
        self.created_at.pop(address, None)
        self.ready.pop(address, None)
        self.runs.pop(address, None)
        self.conditions.pop(address, None)

    def _seen(
        self, address: ObjectAddress, watches: Sequence[ObjectAddress], *, now: datetime
    ) -> list[ApiObject | None]:
        """
        Return the object as each of these watches has it; None for one that does not select it.
        """
        if not watches:
            return []
        words = dict(self.words[address])
        age = words.pop("age", None)
        born = self.created_at[address] if age is None else now - parse_duration(age)
        built = self._built(address, words, born=born, now=now)
        if built is None:
            named = {"name": address.name, "namespace": address.namespace}
            content = built_objects.whole_content(named, words, born=born, now=now)
            return [self._read(each.kind, content) for each in watches]
        return [
            self._read(each.kind, built_objects.as_content(built))
            if each.kind.is_declared
            else built
            for each in watches
        ]

    def _read(self, kind: ResourceKind, content: Mapping[str, Any]) -> ApiObject | None:
        """
        Return an object as a kind has it; None if the selectors of its watch leave it out.

        Those of the program's own kinds are not applied: stories leave out the labels that they need.
        """
        if self.watched is not None and kind.is_declared and not kind.selector.matches(content):
            return None
        return msgspec.json.decode(msgspec.json.encode(content), type=kind.type)

    def _built(
        self, address: ObjectAddress, words: dict[str, Any], *, born: datetime, now: datetime
    ) -> ApiObject | None:
        """Build the object of a short notation; None for one that is given as the API shows it."""
        if not API_FIELDS & words.keys():
            if address.kind is DEPLOYMENTS:
                return _deployment(address, words, born=born, now=now)
            if address.kind is PODS:
                return self._pod(address, words, born=born, now=now)
            if address.kind is WORKSPACES:
                return self._workspace(address, words, born=born, now=now)
        if address.kind is NAMESPACES and not words:
            return built_objects.build_namespace(address.name)
        return None

    def _pod(
        self, address: ObjectAddress, words: dict[str, Any], *, born: datetime, now: datetime
    ) -> ApiObject:
        ready = words.get("ready", "unschedulable" not in words)
        was, since = self.ready.get(address, (ready, born))
        self.ready[address] = (ready, since if was == ready else now)
        since, restarts = self.ready[address][1], words.get("restarts", 0)
        runs = self.runs.get(address, ContainerRuns(restarts))
        self.runs[address] = runs = runs.after(restarts, since=since, now=now)
        if "model" not in words:
            words = {"labels": self._template(address), **words}
        # A successor of the same name is another object.
        words["uid"] = f"uid-{address.name}-{self.deletions[address]}"
        return _pod(address, words, born=born, since=since, runs=runs, now=now)

    def _template(self, address: ObjectAddress) -> Mapping[str, str]:
        """Return the labels by which Istio and the chart of an endpoint picker find their pods."""
        owner = ObjectAddress(DEPLOYMENTS, address.namespace, _workload(address))
        if owner.name.endswith(ENDPOINT_PICKER_SUFFIX):
            return {"inferencepool": owner.name}
        labels = self.words.get(owner, {}).get("labels", {})
        return (
            {GATEWAY_NAME_LABEL: labels[GATEWAY_NAME_LABEL]}
            if GATEWAY_NAME_LABEL in labels
            else {}
        )

    def _workspace(
        self, address: ObjectAddress, words: dict[str, Any], *, born: datetime, now: datetime
    ) -> ApiObject:
        before = self.conditions.get(address, ())
        if "upgrade" in words:
            words["upgrade"] = (START + parse_duration(words["upgrade"])).isoformat()
        meta = {"namespace": address.namespace, "created_at": born}
        made = built_objects.story_workspace(address.name, words, before, now=now, **meta)
        self.conditions[address] = made.status.conditions or ()
        return made


def _deployment(
    address: ObjectAddress, words: dict[str, Any], *, born: datetime, now: datetime
) -> ApiObject:
    """
    Build a Deployment.

    *rollout*: reason of Progressing. *refused*: message of ReplicaFailure. *stale*: its status is.
    """
    rollout = words.pop("rollout", "NewReplicaSetAvailable")
    status = {"ProgressDeadlineExceeded": "False", "DeploymentPaused": "Unknown"}
    conditions: list[tuple[str, ...]] = [("Progressing", status.get(rollout, "True"), rollout)]
    if "refused" in words:
        conditions.append(("ReplicaFailure", "True", "FailedCreate", words.pop("refused")))
    if words.pop("stale", False):
        words |= {"generation": 2, "observed": 1}
    if words.pop("deleting", False):
        words["deleted"] = now
    words.setdefault("replicas", 1)
    return built_objects.build_deployment(
        address.name, address.namespace, created_at=born, conditions=conditions, **words
    )


def _pod(
    address: ObjectAddress,
    words: dict[str, Any],
    *,
    born: datetime,
    since: datetime,
    runs: ContainerRuns,
    now: datetime,
) -> ApiObject:
    """
    Build a Pod, named ``<deployment>-<hash>-<suffix>``. *unschedulable*, *disrupted*: message and reason.
    """
    conditions: list[tuple[str, ...]] = []
    if "unschedulable" in words:
        why = words.pop("unschedulable")
        conditions.append(("PodScheduled", "False", "Unschedulable", why))
        words |= {"ready": False, "containers": False, "phase": "Pending"}
    if "disrupted" in words:
        conditions.append(("DisruptionTarget", "True", words.pop("disrupted")))
    if words.pop("deleting", False):
        words["deleted"] = now
    times: dict[str, datetime | None] = {"created_at": born, "started": born, "since": since}
    times |= {"running": runs.started or since, "last_running": runs.last_started}
    plain = {key.replace("-", "_"): value for key, value in words.items()}
    if "model" in plain:
        made = {**times, **plain, "conditions": conditions}
        return built_objects.story_model_pod(address.name, made, namespace=address.namespace)
    return built_objects.build_pod(
        address.name,
        address.namespace,
        workload=_workload(address),
        conditions=conditions,
        **{**times, **plain},
    )


def _workload(pod: ObjectAddress) -> str:
    return pod.name.rpartition("-")[0].rpartition("-")[0]


def healthy_pods(
    deployments: Iterable[tuple[str, Mapping[str, Any]]],
) -> Mapping[str, Mapping[str, Any]]:
    """Build a Ready pod for each replica: ``<deployment>-6c9f-x1``, ``-x2`` and so on."""
    return {
        f"Pod {text.removeprefix('Deployment ')}-6c9f-x{number}": {}
        for text, words in deployments
        if text.startswith("Deployment ")
        for number in range(1, words.get("replicas", 1) + 1)
    }
