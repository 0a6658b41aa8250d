"""The objects of a case file, on an API server with no other writer."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from e2e.controlplane import ApiError, Client, Json
from e2e.support.cases.object_defaults import DEFAULTS, ITEM_DEFAULTS
from e2e.support.production_stack.components import IMAGE
from reporter.kinds.objects import plain_labels
from reporter.kinds.resource_kind import ResourceKind
from reporter.stories.format import apply_merge_patch, resolve_times
from reporter.stories.healthy_stack import HEALTHY_STACK
from reporter.stories.objects import API_FIELDS, ObjectAddress, StoryObjects, healthy_pods


TEST_FINALIZER = "e2e.example/held"
"""The finalizer of objects that are being deleted."""

NAMESPACE = "Namespace"
KEPT_SPECS = frozenset({"Pod", "Job", "Service", NAMESPACE})
"""Kinds whose spec the server completes, and then hardly lets change."""

ANY_VERSION = "v1"
PROTECTED = "kube-system"
SET_BY_THE_SERVER = ("uid", "generation", "creationTimestamp", "deletionTimestamp")


class CaseClusterObjects:
    """
    Write whole objects, each status separately, and keep a list of the existing ones.

    *declared*: the kinds that the catalogue of the cases declares. *stack*: the objects that are there
    before what a case gives.
    """

    def __init__(
        self,
        client: Client,
        declared: Sequence[ResourceKind] = (),
        stack: Mapping[str, Mapping[str, Any]] = HEALTHY_STACK["objects"],
    ) -> None:
        self.client, self.world = client, StoryObjects(declared)
        self._declared, self._stack = declared, stack
        self._there: dict[ObjectAddress, tuple[Json, str]] = {}
        self._pod_addresses: Mapping[str, str] = {}

    def install(
        self,
        changes: Mapping[str, Mapping[str, Any] | None],
        pod_addresses: Mapping[str, str],
    ) -> None:
        """
        Install the stack with these changes and nothing else. Objects that match already are left
        alone.

        *pod_addresses*: the address of each pod that has one.
        """
        self.world, self._pod_addresses = StoryObjects(self._declared), pod_addresses
        stack = apply_merge_patch(self._stack, changes)
        pods = healthy_pods(stack.items())
        known = {ObjectAddress.parse(text, self._declared) for text in (*stack, *pods)}
        self._remove(each for each in list(self._there) if each not in known)
        described = {
            text: apply_merge_patch(words, stack.get(text, {})) for text, words in pods.items()
        }
        self.change({**stack, **described})

    def change(self, changes: Mapping[str, Mapping[str, Any] | None]) -> None:
        """
        Write the changes. Returns once the API server, which serves watches from a cache, has seen
        them itself.
        """
        now = datetime.now(UTC)
        made = {
            address: each
            for address, each in self.world.change(changes, now=now)
            if each is None or self._there.get(address) != self._wanted(address)
        }
        for address, each in sorted(made.items(), key=lambda item: item[0].kind.kind != NAMESPACE):
            if each is not None:
                self._write(address, self._manifest(address, each, now=now))
        self._remove(address for address, each in made.items() if each is None)
        for kind in {address.kind.resource: address.kind for address in made}.values():
            # Answered from the same cache, once that is as new as etcd (KEP-2340).
            self.client.get(f"{_root(kind)}/{kind.resource}")

    def declare(self, kinds: Sequence[ResourceKind]) -> None:
        """Know other declared kinds from the next installation on: those of its case."""
        self._declared = kinds

    def end(self) -> None:
        self._remove(list(self._there))

    def _wanted(self, address: ObjectAddress) -> tuple[Json, str]:
        return self.world.words[address], self._pod_address(address)

    def _pod_address(self, address: ObjectAddress) -> str:
        text = f"{address.kind.kind} {address.namespace}/{address.name}"
        return self._pod_addresses.get(text, "")

    # ------------------------------------------------------------ manifests

    def _manifest(self, address: ObjectAddress, made: Any, *, now: datetime) -> Json:
        kind, words = address.kind, self.world.words[address]
        if API_FIELDS & words.keys():
            found = resolve_times({key: words[key] for key in words if key != "age"}, now=now)
        else:
            found = _without_blanks(msgspec.to_builtins(made, enc_hook=plain_labels))
        whole = _filled(apply_merge_patch(DEFAULTS.get(kind.kind, {}), found), now=now)
        if ip := self._pod_address(address):
            whole = apply_merge_patch(whole, {"status": {"podIP": ip, "podIPs": [{"ip": ip}]}})
        if kind.kind == "Deployment":
            whole = _with_valid_deployment(address.name, whole)
        version = f"{kind.group}/{_version(kind)}" if kind.group else _version(kind)
        where = {"namespace": address.namespace} if address.namespace else {}
        meta = {**whole.get("metadata", {}), "name": address.name, **where}
        return {**whole, "apiVersion": version, "kind": kind.kind, "metadata": meta}

    # ------------------------------------------------------------ over HTTP

    def _write(self, address: ObjectAddress, manifest: Json) -> None:
        meta = manifest["metadata"]
        server_fields = {key: meta.pop(key, None) for key in SET_BY_THE_SERVER}
        leaving = server_fields["deletionTimestamp"] is not None
        if leaving and address.kind.kind != NAMESPACE:
            meta["finalizers"] = [TEST_FINALIZER]
        status = manifest.pop("status", {})
        path, live = self._path(address), self._read(address)
        if live is not None and _must_recreate(live, manifest):
            self._remove([address])
            live = None
        self._there[address] = self._wanted(address)
        if live is None:
            live = self.client.create(path.rpartition("/")[0], manifest)
        else:
            meta["resourceVersion"] = live["metadata"]["resourceVersion"]
            kept = {"spec": live["spec"]} if address.kind.kind in KEPT_SPECS else {}
            live = self.client.put(path, {**manifest, **kept})
        if address.kind.kind != NAMESPACE and (status or live.get("status")):
            offset = live["metadata"].get("generation", 1) - (server_fields["generation"] or 1)
            status = _observed(status, offset)
            self.client.put(f"{path}/status", {**live, "status": status})
        if leaving:
            self.client.delete(path)

    def _remove(self, addresses: Iterable[ObjectAddress]) -> None:
        for each in sorted(addresses, key=lambda address: address.kind.kind == NAMESPACE):
            live = self._read(each)
            self._there.pop(each, None)
            if live is None or each.name == PROTECTED:
                continue
            path, meta = self._path(each), live["metadata"]
            if TEST_FINALIZER in meta.get("finalizers", ()):
                self.client.patch(path, {"metadata": {"finalizers": None}})
            if self._read(each) is not None:
                # By default the server keeps a Job until its pods are released.
                query = "gracePeriodSeconds=0&propagationPolicy=Background"
                self.client.delete(f"{path}?{query}")
            live = self._read(each) if each.kind.kind == NAMESPACE else None
            if live is not None:
                self.client.put(f"{path}/finalize", {**live, "spec": {"finalizers": []}})

    def _read(self, address: ObjectAddress) -> Json | None:
        try:
            return self.client.get(self._path(address))
        except ApiError as err:
            if err.status != 404:
                raise
            return None

    def _path(self, address: ObjectAddress) -> str:
        kind = address.kind
        where = f"/namespaces/{address.namespace}" if address.namespace else ""
        return f"{_root(kind)}{where}/{kind.resource}/{address.name}"


def _root(kind: ResourceKind) -> str:
    return f"/apis/{kind.group}/{_version(kind)}" if kind.group else "/api/v1"


def _version(kind: ResourceKind) -> str:
    """Return the version that is read, or that of the CRD for a kind of which any is."""
    return kind.versions[0] if kind.versions else ANY_VERSION


def _must_recreate(live: Json, manifest: Json) -> bool:
    """
    Return whether an update is impossible: a pod cannot change its node, nor its owner's name.
    """
    node = live.get("spec", {}).get("nodeName")
    return bool(manifest["kind"] == "Pod" and manifest["spec"].get("nodeName") != node)


def _with_valid_deployment(name: str, deployment: Json) -> Json:
    """Add a template to a Deployment, and limit the pods in its status to the total."""
    spec, status = deployment.get("spec", {}), deployment.get("status", {})
    if "replicas" not in status:
        total = status.get("availableReplicas", 0)
        status = {
            **dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas"), total),
            **status,
        }
    labels = {"e2e.example/of": name}
    container = {"name": "main", "image": IMAGE}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    total = status.get("replicas", 0)
    counts = {
        key: min(status.get(key, 0), total)
        for key in ("updatedReplicas", "readyReplicas", "availableReplicas")
    }
    counts["availableReplicas"] = min(counts["availableReplicas"], counts["readyReplicas"])
    return {
        **deployment,
        "spec": {**spec, "selector": {"matchLabels": labels}, "template": template},
        "status": {**status, **counts},
    }


def _without_blanks(value: Any) -> Any:
    """Drop the null and empty values of a partial object."""
    if isinstance(value, Mapping):
        kept = {key: _without_blanks(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each is not None and each != ""}
    if isinstance(value, list | tuple):
        return [_without_blanks(each) for each in value]
    return value


def _filled(value: Any, *, now: datetime, of: str = "") -> Any:
    """Add the fields that every condition, listener and similar item must have."""
    if isinstance(value, list):
        return [_filled(each, now=now, of=of) for each in value]
    if not isinstance(value, Mapping):
        return value
    found = {key: _filled(each, now=now, of=key) for key, each in value.items()}
    found = {**ITEM_DEFAULTS.get(of, {}), **found}
    if of == "conditions":
        found.setdefault("lastTransitionTime", now.strftime("%Y-%m-%dT%H:%M:%SZ"))
    if of == "listeners":
        state = "conditions" in found
        needed = {"attachedRoutes": 0, "supportedKinds": []} if state else {}
        found = {**(needed if state else {"port": 80, "protocol": "HTTP"}), **found}
    return found


def _observed(value: Any, offset: int) -> Any:
    """Map the generations of the case to those that the server counts itself."""
    if isinstance(value, list):
        return [_observed(each, offset) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: each + offset if key == "observedGeneration" else _observed(each, offset)
        for key, each in value.items()
        if (key, each) != ("observedGeneration", 0)
    }
