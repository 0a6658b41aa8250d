"""Builders of the objects that optional sources read, healthy by default, and of their store."""

import msgspec

from reporter.kinds.batch import CHECK_LABEL, Job, JobStatus
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.kinds.istio import (
    AuthorizationPolicy,
    AuthorizationPolicySpec,
    ExtensionProvider,
    MeshConfigMap,
    MeshConfigMapData,
)
from reporter.kinds.karpenter import NodeClaim, NodeClaimStatus, NodePool, NodePoolStatus
from reporter.kinds.keda import (
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerSpec,
    HorizontalPodAutoscalerStatus,
    ScaledObject,
    ScaledObjectSpec,
    ScaledObjectStatus,
    ScaleTarget,
)
from reporter.kinds.objects import AnnotatedMetadata, Condition, Metadata
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.observations import Watching, WatchState
from reporter.model.subjects import Subject
from reporter.store.store import Store
from tests.support.builders import LONG_AGO, a_condition
from tests.support.catalogue_fixture import SUBJECTS, a_probe_request
from tests.support.model_builders import MODEL, TEAM, WORKSPACE
from tests.support.probe_verdicts import verdicts_of_request


HPA = f"keda-hpa-{MODEL}"
CLAIM = f"{WORKSPACE}-x4b"
ALL = (*DEFAULT_KINDS, *OPTIONAL_KINDS)


def a_scaled_object(name: str = MODEL, *conditions: Condition, **changes) -> ScaledObject:
    """
    Build a ScaledObject; *of*: the InferenceSet it scales, or another target of *kind*.

    *owners*, *polling*: its owners, and the seconds between two questions to the scaler.
    """
    target = ScaleTarget(kind=changes.get("kind", "InferenceSet"), name=changes.get("of", MODEL))
    return ScaledObject(
        metadata=AnnotatedMetadata(
            name=name,
            namespace=TEAM,
            creation_timestamp=LONG_AGO,
            deletion_timestamp=changes.get("deleted"),
            annotations=changes.get("annotations"),
            owner_references=changes.get("owners"),
        ),
        spec=ScaledObjectSpec(scale_target_ref=target, polling_interval=changes.get("polling")),
        status=ScaledObjectStatus(
            hpa_name=HPA,
            conditions=conditions or (a_condition("Ready", "True", "ScaledObjectReady"),),
        ),
    )


def an_autoscaler(*conditions: Condition, **changes) -> HorizontalPodAutoscaler:
    return HorizontalPodAutoscaler(
        metadata=Metadata(
            name=HPA,
            namespace=TEAM,
            creation_timestamp=LONG_AGO,
            deletion_timestamp=changes.get("deleted"),
        ),
        spec=HorizontalPodAutoscalerSpec(
            scale_target_ref=ScaleTarget(kind="InferenceSet", name=MODEL),
            max_replicas=changes.get("max_replicas"),
        ),
        status=HorizontalPodAutoscalerStatus(conditions=conditions),
    )


def a_claim(
    *conditions: Condition, name: str = CLAIM, of: str = WORKSPACE, **changes
) -> NodeClaim:
    """Build a NodeClaim of Workspace *of*; *labels* replace those that Karpenter sets."""
    default_labels = {
        "karpenter.kaito.sh/workspace-namespace": TEAM,
        "karpenter.kaito.sh/workspace-name": of,
        "karpenter.kaito.sh/inferenceset": MODEL,
    }
    return NodeClaim(
        metadata=Metadata(
            name=name,
            generation=1,
            creation_timestamp=LONG_AGO,
            deletion_timestamp=changes.get("deleted"),
            labels=changes.get("labels", default_labels),
        ),
        status=NodeClaimStatus(conditions=conditions),
    )


def a_pool(*conditions: Condition, of: str = WORKSPACE, **changes) -> NodePool:
    """Build the NodePool of Workspace *of*; *observed*: the generation of its conditions."""
    observed = changes.get("observed", 0)
    return NodePool(
        metadata=Metadata(
            name=f"pool-{of}",
            generation=changes.get("generation", 1),
            creation_timestamp=LONG_AGO,
            deletion_timestamp=changes.get("deleted"),
            labels=a_claim(of=of).metadata.labels,
        ),
        status=NodePoolStatus(
            conditions=tuple(
                msgspec.structs.replace(each, observed_generation=observed) for each in conditions
            )
        ),
    )


def a_policy(name: str = "apikey", provider: str | None = "apikey-ext-authz", **changes):
    return AuthorizationPolicy(
        metadata=Metadata(
            name=name,
            namespace=changes.get("namespace", TEAM),
            creation_timestamp=LONG_AGO,
            deletion_timestamp=changes.get("deleted"),
        ),
        spec=AuthorizationPolicySpec(
            action=changes.get("action", "CUSTOM"),
            provider=ExtensionProvider(name=provider) if provider is not None else None,
        ),
    )


def a_mesh(*providers: str, namespace: str = "istio-system", text: str | None = None):
    """Build a MeshConfig with these providers; *text*: the whole MeshConfig, instead."""
    listed = "".join(f"- name: {each}\n" for each in providers)
    mesh = (
        text if text is not None else f"rootNamespace: istio-system\nextensionProviders:\n{listed}"
    )
    meta = Metadata(name="istio", namespace=namespace)
    return MeshConfigMap(metadata=meta, data=MeshConfigMapData(mesh=mesh))


def a_check_job(name: str = "smoke-1", *conditions: Condition, **changes) -> Job:
    """
    Build a Job of check *check* in the team's namespace; *of*: the InferenceSet that it checks.
    """
    of = changes.get("of")
    labels = {CHECK_LABEL: changes.get("check", "smoke")}
    return Job(
        metadata=AnnotatedMetadata(
            name=name,
            namespace=changes.get("namespace", TEAM),
            creation_timestamp=changes.get("created_at", LONG_AGO),
            deletion_timestamp=changes.get("deleted"),
            labels={**labels, **({"kaito.sh/inferenceset": of} if of else {})},
            annotations=changes.get("annotations"),
        ),
        status=JobStatus(conditions=conditions),
    )


def a_store(
    *objects, deleted=(), kinds=ALL, watch_states: dict[ResourceKind, WatchState] | None = None
):
    """Build a store whose kinds are all watched, except for those in *watch_states*."""
    store = Store(kinds, subjects=SUBJECTS)
    for kind in kinds:
        store.set_watch_state(kind, (watch_states or {}).get(kind, Watching()))
    for each in (*objects, *deleted):
        store.upsert(_kind(each), each)
    for each in deleted:
        store.delete(_kind(each), each.metadata.namespace, each.metadata.name)
    return store


def _kind(each) -> ResourceKind:
    return next(kind for kind in ALL if isinstance(each, kind.type))


def verdict_of(
    reason: str, subject: Subject, store: Store, unwatched: tuple[ResourceKind, ...] = ()
):
    """Return the verdict of a reason's probe; *unwatched*: kinds whose watch is lost."""
    whys = {kind.resource: f"{kind.group_resource} not watched" for kind in unwatched}
    request = msgspec.structs.replace(a_probe_request(reason), subject=subject, unwatched=whys)
    (verdict,) = verdicts_of_request(request, store)
    return verdict
