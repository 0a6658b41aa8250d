"""Build Deployments."""

from typing import Any

from reporter.model.kinds.base.objects import Metadata
from reporter.model.kinds.core.deployments import Deployment, DeploymentSpec, DeploymentStatus
from reporter.stories.notation.times import LONG_AGO
from reporter.stories.objects.conditions import build_condition


def build_deployment(
    name: str = "body-based-router",
    namespace: str = "kaito-system",
    *,
    replicas: int = 2,
    ready: int | None = None,
    **changes: Any,
) -> Deployment:
    """
    Build a Deployment, healthy by default.

    *conditions* as (type, status, reason[, message]) tuples. Further keywords: generation, observed
    (generation), created_at, deleted, labels, paused, total, updated and available (replicas).
    """
    ready_replicas = replicas if ready is None else ready
    conditions = changes.get("conditions", [("Progressing", "True", "NewReplicaSetAvailable")])
    return Deployment(
        metadata=Metadata(
            name=name,
            namespace=namespace,
            uid=f"uid-{name}",
            generation=changes.get("generation", 1),
            creation_timestamp=changes.get("created_at", LONG_AGO),
            deletion_timestamp=changes.get("deleted"),
            labels=changes.get("labels"),
        ),
        spec=DeploymentSpec(replicas=replicas, paused=changes.get("paused", False)),
        status=DeploymentStatus(
            observed_generation=changes.get("observed", 1),
            replicas=changes.get("total", replicas),
            updated_replicas=changes.get("updated", replicas),
            ready_replicas=ready_replicas,
            available_replicas=changes.get("available", ready_replicas),
            conditions=tuple(build_condition(*each) for each in conditions),
        ),
    )
