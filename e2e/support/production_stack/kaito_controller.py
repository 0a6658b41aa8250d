"""
KAITO's controller in a namespace that has its CRDs but no KAITO.

It creates Workspaces and their StatefulSets and writes the conditions that the real one writes;
the pods are those of the real StatefulSet controller.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from e2e.controlplane import ApiError, Client, Json, faults, until
from e2e.support.production_stack import statuses
from e2e.support.production_stack.components import IMAGE


FINALIZER = "workspace.finalizer.kaito.sh"
READY_REASONS = {
    "NodeClaimReady": "NodeClaimsReady",
    "NodesReady": "NodesReady",
    "ResourceReady": "workspaceResourceStatusSuccess",
    "InferenceReady": "WorkspaceInferenceStatusSuccess",
    "WorkspaceSucceeded": "workspaceSucceeded",
}
"""The reasons with which its conditions are True."""

PENDING_REASONS = {
    "InferenceReady": "WorkspaceInferenceStatusPending",
    "WorkspaceSucceeded": "workspacePending",
}
NODES_READY_REASONS = {
    kind: READY_REASONS[kind] for kind in ("NodeClaimReady", "NodesReady", "ResourceReady")
}


def nodes_missing_reasons(reason: str) -> dict[str, str]:
    """
    Return the reasons of its conditions while the node is missing. *reason*: one of a NodeClaim.
    """
    return {
        **PENDING_REASONS,
        "NodeClaimReady": reason,
        "NodesReady": "NodeNotReady",
        "ResourceReady": reason,
    }


@dataclass(frozen=True)
class KaitoController:
    client: Client
    namespace: str
    model: str = "qwen"

    # ------------------------------------------------------------ what it makes

    def create_workspace(self, name: str) -> None:
        """Create a replica of the InferenceSet, without a status yet."""
        manifest = self._workspace(name)
        owner = self.client.get(self.client.path(self._inference_set))
        manifest["metadata"] |= {
            "labels": {"inferenceset.kaito.sh/created-by": self.model, "apps": self.model},
            "finalizers": [FINALIZER],
            "ownerReferences": [_reference(owner)],
        }
        manifest["resource"] = {
            "instanceType": "Standard_NV36ads_A10_v5",
            "labelSelector": {"matchLabels": {"apps": self.model}},
        }
        manifest["inference"] = {"preset": {"name": "qwen2.5-coder-7b-instruct"}}
        self.client.create(self.client.collection(manifest), manifest)

    def create_stateful_set(
        self,
        workspace: str,
        annotations: Mapping[str, str] | None = None,
        nodes: Mapping[str, str] | None = None,
    ) -> None:
        """Create the Workspace's StatefulSet. *nodes*: labels of the nodes for its pods."""
        labels = {"kaito.sh/workspace": workspace, "inferenceset.kaito.sh/created-by": self.model}
        manifest = self.stateful_set(workspace)
        manifest["spec"] = {
            "replicas": 1,
            "serviceName": f"{workspace}-headless",
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": dict(annotations or {})},
                "spec": {
                    "nodeSelector": dict(nodes or {}),
                    "containers": [{"name": workspace, "image": IMAGE}],
                },
            },
        }
        self.client.create(self.client.collection(manifest), manifest)

    def update_template(self, workspace: str, annotations: Mapping[str, str]) -> None:
        """Change the template of the StatefulSet. Returns when the pod has the new revision."""
        before = self.pod(workspace)["metadata"]["uid"]
        template = {"metadata": {"annotations": dict(annotations)}}
        path = self.client.path(self.stateful_set(workspace))
        self.client.patch(path, {"spec": {"template": template}})
        what = f"pod {self.namespace}/{workspace}-0 is made anew"
        until(lambda: self.pod(workspace)["metadata"]["uid"] != before, within=60, what=what)

    def mark_upgrading(self, workspace: str) -> None:
        """Mark the Workspace for an upgrade in place. The marks stay when it is over."""
        marks = {
            "labels": {"kaito.sh/upgrade-to-version": "0.9.0"},
            "annotations": {"kaito.sh/upgrade-start-time": statuses.timestamp()},
        }
        self.client.patch(self.client.path(self._workspace(workspace)), {"metadata": marks})

    def delete_workspace(self, workspace: str) -> None:
        """Delete the Workspace, which terminates until its finalizers are removed."""
        self.client.delete(self.client.path(self._workspace(workspace)))
        self.client.delete(self.client.path(self.stateful_set(workspace)))
        going = {"status": "True", "reason": "workspaceDeleted", "message": "workspace deleted"}
        statuses.set_conditions(
            self.client, self._workspace(workspace), {"WorkspaceDeleting": going}
        )

    def remove_finalizers(self, workspace: str) -> None:
        path = self.client.path(self._workspace(workspace))
        self.client.patch(path, {"metadata": {"finalizers": None}})

    # ------------------------------------------------------------ what it reports

    def set_workspace_conditions(self, workspace: str, reasons: Mapping[str, str]) -> None:
        """Set a reason by the condition's type, with an optional message after a colon."""
        manifest = self._workspace(workspace)
        before = self.client.get(self.client.path(manifest)).get("status", {}).get("state")
        ready = reasons.get("InferenceReady") == READY_REASONS["InferenceReady"]
        state = (
            "Ready" if ready else ("NotReady" if before in {"Ready", "NotReady"} else "Pending")
        )
        written = {kind: _condition(kind, reason) for kind, reason in reasons.items()}
        statuses.set_conditions(self.client, manifest, written, state=state, targetNodeCount=1)

    def set_inference_set_status(self, ready: int, desired: int = 1) -> None:
        """Write the InferenceSet's own status."""
        done = ready >= desired
        written = {
            "status": str(done),
            "reason": "inferencesetReady" if done else "inferencesetNotReady",
            "message": f"{ready}/{desired} replicas are ready",
        }
        statuses.set_conditions(
            self.client,
            self._inference_set,
            {"InferenceSetReady": written},
            replicas=desired,
            readyReplicas=ready,
        )

    def scale(self, replicas: int) -> None:
        self.client.patch(self.client.path(self._inference_set), {"spec": {"replicas": replicas}})

    # ------------------------------------------------------------ what is there

    def annotate(self, **annotations: str | None) -> None:
        """Annotate the InferenceSet for the scaler."""
        given = {
            f"scaledobject.kaito.sh/{key.replace('_', '-')}": each
            for key, each in annotations.items()
        }
        path = self.client.path(self._inference_set)
        self.client.patch(path, {"metadata": {"annotations": given}})

    def pod(self, workspace: str) -> Json:
        """Return the pod, once it exists and is not being deleted."""
        path = f"/api/v1/namespaces/{self.namespace}/pods/{workspace}-0"

        def read() -> Json | None:
            with contextlib.suppress(ApiError):
                found = self.client.get(path)
                if "deletionTimestamp" not in found["metadata"]:
                    return {**found, "apiVersion": "v1", "kind": "Pod"}
            return None

        return until(read, within=60, what=f"pod {self.namespace}/{workspace}-0")

    def wait_started(self, workspace: str) -> None:
        """
        Wait until the pod serves, whatever it was waiting for, and write that to KAITO's
        conditions.
        """
        faults.clear_pod_fault(self.client, self.pod(workspace))

        def ready() -> bool:
            conditions = self.pod(workspace)["status"].get("conditions", [])
            return any((c["type"], c["status"]) == ("Ready", "True") for c in conditions)

        until(ready, within=60, what=f"pod {self.namespace}/{workspace}-0 is Ready")
        self.set_workspace_conditions(workspace, READY_REASONS)
        self.set_inference_set_status(1)

    def stateful_set(self, name: str) -> Json:
        return self._named("apps/v1", "StatefulSet", name)

    @property
    def _inference_set(self) -> Json:
        return self._named("kaito.sh/v1beta1", "InferenceSet", self.model)

    def _workspace(self, name: str) -> Json:
        return self._named("kaito.sh/v1beta1", "Workspace", name)

    def _named(self, version: str, kind: str, name: str) -> Json:
        meta = {"name": name, "namespace": self.namespace}
        return {"apiVersion": version, "kind": kind, "metadata": meta}


def _condition(kind: str, text: str) -> Json:
    reason, _, message = text.partition(": ")
    return {"status": str(reason == READY_REASONS[kind]), "reason": reason, "message": message}


def _reference(owner: Json) -> Json:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
