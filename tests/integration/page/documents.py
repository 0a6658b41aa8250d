"""Documents of ``/status/v1``, made of the program's own types."""

from datetime import timedelta

from reporter.model.enums import Layer
from reporter.model.states import Actionability, Mode, Pattern, SinceFrom, State
from reporter.model.status_document import (
    Blocking,
    ClusterCounts,
    ClusterStatus,
    ComponentStatus,
    Contributing,
    Counts,
    HarnessStatus,
    InferenceSetStatus,
    NamespaceStatus,
    NotAvailable,
    Package,
    Replicas,
    StatusDocument,
    Suppressed,
    UnlistedLayer,
)
from reporter.process.clock import Clock


CLOCK = Clock()
KAITO_OUT = "clusterKaitoControllerNotReady"
NO_PODS = "inferencesetModelPodsNotReady"
GATEWAY_OUT = "modelharnessGatewayNotReady"
KAITO = "deployments.apps kaito-system/kaito-workspace"


def blocking(reason: str, layer: Layer, **more) -> Blocking:
    known = {
        "code": "Unavailable",
        "message": f"{reason} is out.",
        "remedy": f"Mend what {reason} names.",
        "actionability": Actionability.PLATFORM,
        "since": CLOCK.now() - timedelta(minutes=12),
        "since_from": SinceFrom.WRITER,
        "in_state_seconds": 731,
        "window_seconds": 60,
    }
    return Blocking(reason=reason, layer=layer, **{**known, **more})


def kaito_out(**more) -> Blocking:
    return blocking(KAITO_OUT, Layer.CLUSTER, object=KAITO, **{"stalled": True, **more})


def an_inference_set(name: str, state: State = State.CURRENT, **more) -> InferenceSetStatus:
    ready = 2 if state is State.CURRENT else 0
    known = {
        "replicas": Replicas(desired=2, updated=2, ready=ready),
        "available": True if state is State.CURRENT else None,
    }
    return InferenceSetStatus(name=name, state=state, **{**known, **more})


def kaito_hinders(**more) -> NotAvailable:
    known = {
        "reason": KAITO_OUT,
        "code": "Unavailable",
        "layer": Layer.CLUSTER,
        "object": KAITO,
        "message": f"{KAITO_OUT} is out.",
        "remedy": f"Mend what {KAITO_OUT} names.",
        "actionability": Actionability.PLATFORM,
    }
    return NotAvailable(**{**known, **more})


def no_pods(**more) -> Suppressed:
    message = "No pod of the model is Ready."
    return Suppressed(reason=NO_PODS, code="Missing", message=message, by=(KAITO_OUT,), **more)


def a_namespace(name: str, state: State, *sets: InferenceSetStatus, **more) -> NamespaceStatus:
    known = {"harness": HarnessStatus(state=State.CURRENT), "available": None}
    return NamespaceStatus(name=name, state=state, inference_sets=sets, **{**known, **more})


def a_cluster(state: State = State.CURRENT, **more) -> ClusterStatus:
    return ClusterStatus(state=state, **more)


def a_document(
    *namespaces: NamespaceStatus, cluster: ClusterStatus | None = None, **more
) -> StatusDocument:
    known = {"mode": Mode.WATCHING, "evaluated_at": CLOCK.now()}
    return StatusDocument(
        schema="v1", cluster=cluster or a_cluster(), namespaces=namespaces, **{**known, **more}
    )


def healthy() -> StatusDocument:
    return a_document(a_namespace("team-a", State.CURRENT, an_inference_set("qwen")))


def every_state() -> StatusDocument:
    """An outage of KAITO's controller, and one namespace in each state."""
    follows = kaito_out(pointer=True, via=(NO_PODS,))
    component = ComponentStatus(
        namespace="kaito-system",
        name="kaito-workspace",
        reason=KAITO_OUT,
        state=State.FAILED,
        replicas=Replicas(desired=1, updated=1, ready=0),
    )
    unlisted = UnlistedLayer(layer=Layer.MODELDEPLOYMENT, why="may not list inferencesets")
    counts = Counts(current=1, in_progress=1, unknown=1, failed=1, terminating=1)
    return a_document(
        *_namespaces(follows),
        cluster=a_cluster(
            State.FAILED,
            blocking=kaito_out(),
            components=(component,),
            counts=ClusterCounts(namespaces=counts, inference_sets=counts),
            unlisted_layers=(unlisted,),
        ),
    )


def _namespaces(follows: Blocking) -> tuple[NamespaceStatus, ...]:
    gateway = blocking(
        GATEWAY_OUT,
        Layer.MODELHARNESS,
        held=True,
        actionability=Actionability.TRANSIENT,
        object="gateways.gateway.networking.k8s.io team-held/team-held-gw",
    )
    unread = Blocking(
        code="NotListed",
        layer=Layer.MODELDEPLOYMENT,
        message="may not list inferencesets",
        actionability=Actionability.TRANSIENT,
        pattern=Pattern.NO_TERMINAL_STATE_REPORTED,
    )
    other = Contributing(reason=GATEWAY_OUT, code="NotAccepted", state=State.FAILED, subjects=1)
    return (
        a_namespace(
            "team-failed",
            State.FAILED,
            an_inference_set(
                "llama",
                State.FAILED,
                blocking=follows,
                suppressed=(no_pods(),),
                available=False,
                not_available=kaito_hinders(),
                gateways=("team-failed/team-failed-gw",),
            ),
            an_inference_set("qwen"),
            blocking=follows,
            available=True,
            package=Package(name="modelharness", revision="0.2.2"),
            contributing=(other,),
            contributing_count=1,
        ),
        a_namespace(
            "team-held",
            State.IN_PROGRESS,
            an_inference_set("phi"),
            harness=HarnessStatus(state=State.IN_PROGRESS, blocking=gateway),
            blocking=gateway,
        ),
        a_namespace(
            "team-unknown",
            State.UNKNOWN,
            an_inference_set(
                "gemma", State.UNKNOWN, last_known=State.CURRENT, blocking=unread, replicas=None
            ),
            last_known=State.CURRENT,
            blocking=unread,
        ),
        a_namespace("team-leaving", State.TERMINATING),
        a_namespace("team-well", State.CURRENT, an_inference_set("mistral", paused=True)),
    )


def many(namespaces: int, sets: int) -> StatusDocument:
    """So many namespaces that fail, with so many InferenceSets each."""
    follows = kaito_out(pointer=True, via=(NO_PODS,))
    return a_document(
        *(
            a_namespace(
                f"team-{number:04}",
                State.FAILED,
                *(
                    an_inference_set(f"model-{each}", State.FAILED, blocking=follows)
                    for each in range(sets)
                ),
                blocking=follows,
            )
            for number in range(namespaces)
        ),
        cluster=a_cluster(State.FAILED, blocking=kaito_out()),
    )
