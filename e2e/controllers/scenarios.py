"""
The scenarios of a model under real controllers, and what an operator must read about each.

Reason and text were named for each, and corrected after the first runs. Each becomes a recorded story: its
times are those of the story, where a hold of twenty minutes passes at once.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from e2e.controllers import programs
from e2e.controllers.model import Model, ModelSpec
from e2e.controllers.recording import KINDS
from e2e.controllers.stack import CLOUDS, NODE_CLASS
from e2e.controllers.story_files import HEALTHY_MODEL
from e2e.controlplane import Client, faults, until
from reporter.kinds.resource_kind import ResourceKind


PODS, INFRA = "inferencesetModelPodsNotReady", "inferencesetInfraProvisioningFailed"
READY = "inferencesetReady"
ATTEMPTS = 10
"""Seconds in which KAITO tries several times to make what is refused."""

WITH_NODES = (programs.KAITO, programs.KARPENTER)


@dataclass(frozen=True)
class Act:
    """
    An act, which returns when the controllers have answered. *at*: its time in the story.

    *announced*: reason and a part of the text that must follow, with short holds; none for silence.
    """

    at: str
    what: str
    do: Callable[[Model], None]
    announced: tuple[str, str] | None = None


@dataclass(frozen=True)
class Scenario:
    """
    *of*: the reasons that the story is about. *sources*: a flag of the program.

    *kinds*: those that are recorded. *replaced*: objects of the stack of every story, whose place they take.
    """

    name: str
    why: str
    of: tuple[str, ...]
    acts: tuple[Act, ...]
    controllers: tuple[str, ...] = WITH_NODES
    sources: str = "karpenter"
    kinds: tuple[ResourceKind, ...] = KINDS
    replaced: tuple[str, ...] = HEALTHY_MODEL


EXAMPLE = ModelSpec()


def installed(spec: ModelSpec = EXAMPLE) -> Callable[[Model], None]:
    def do(model: Model) -> None:
        model.install(spec)
        model.until_ready(spec.replicas)

    return do


def scaled(replicas: int) -> Callable[[Model], None]:
    def do(model: Model) -> None:
        model.change(ModelSpec(replicas=replicas))
        model.until_ready(replicas)
        until(lambda: len(model.workspaces()) == replicas, within=60, what="as many Workspaces")

    return do


def refused(
    spec: ModelSpec, condition: str, text: str, *, wait: float = ATTEMPTS
) -> Callable[[Model], None]:
    """Install a model; return a while after a condition of its Workspace says so."""

    def do(model: Model) -> None:
        model.install(spec)
        model.until_workspace(condition, text)
        time.sleep(wait)

    return do


def corrected(model: Model) -> None:
    """Correct the values, and let KAITO make the Workspaces anew."""
    model.change(EXAMPLE)
    for each in model.workspaces():
        model.client.delete(f"{model.workspaces_path}/{each['metadata']['name']}")
    model.until_ready()


def cloud_answers(name: str) -> Callable[[Model], None]:
    """Let the cloud give machines, and wait for the model."""

    def do(model: Model) -> None:
        _set_cloud(model.client, name, refuses=None, delay="0s")
        for each in model.node_claims():
            model.client.delete(f"/apis/karpenter.sh/v1/nodeclaims/{each['metadata']['name']}")
        model.until_ready()

    return do


def _set_cloud(client: Client, name: str, *, refuses: str | None, delay: str) -> None:
    annotations = {"metadata": {"annotations": {"e2e/refuses": refuses}}}
    client.patch(f"{NODE_CLASS}/{name}", {**annotations, "spec": {"nodeRegistrationDelay": delay}})


def restore_clouds(client: Client) -> None:
    for name, each in CLOUDS.items():
        delay = each["spec"].get("nodeRegistrationDelay", "0s")
        _set_cloud(client, name, refuses=name, delay=delay)


def preset_refused(model: Model) -> None:
    """Install a model whose Workspace KAITO's webhook refuses, and wait for some attempts."""
    model.install(ModelSpec(preset="nosuch"))
    time.sleep(ATTEMPTS)
    assert not model.workspaces()


def node_silent(model: Model) -> None:
    """Silence the kubelet of the model's node."""
    faults.silence_node(model.client, model.pods()[0]["spec"]["nodeName"])


def pod_evicted(model: Model) -> None:
    """Wait until the pod of the silent node is made anew; here that takes seconds, and not minutes."""

    def evicted() -> bool:
        return all("nodeName" not in each["spec"] for each in model.pods())

    until(evicted, within=120, what="the pod of the silent node is made anew")
    model.until_workspace("NodesReady", "Not")


def node_back(model: Model) -> None:
    for each in model.nodes():
        faults.resume_node(model.client, each["metadata"]["name"])
    model.until_ready()


def pod_fails(fault: faults.PodFault) -> Callable[[Model], None]:
    def do(model: Model) -> None:
        faults.set_pod_fault(model.client, model.pods()[0], fault)
        model.until_ready(0)

    return do


def pod_deleted(model: Model) -> None:
    """Delete the pod as the remedy says."""
    model.client.delete(model.client.path(model.pods()[0]))
    model.until_ready()


SCENARIOS = (
    Scenario(
        "kaito-healthy",
        "A model under KAITO and Karpenter starts, gets a second replica and loses it again, and nothing is announced.",
        (PODS, INFRA),
        (
            Act("1m", "the chart is installed", installed()),
            Act("20m", "a second replica", scaled(2)),
            Act("40m", "one again", scaled(1)),
        ),
    ),
    Scenario(
        "kaito-instance-type-unknown",
        "An instance type that KAITO does not know is said with KAITO's words within minutes, and not after a model's start.",
        (PODS, INFRA),
        (
            Act(
                "1m",
                "the chart is installed with an instance type that there is not",
                refused(
                    ModelSpec(instance_type="Standard_NC9999"), "ResourceReady", "Standard_NC9999"
                ),
                (PODS, "Standard_NC9999"),
            ),
            Act("10m", "it is corrected", corrected, (READY, "")),
        ),
    ),
    Scenario(
        "kaito-preset-unknown",
        "KAITO's webhook refuses the Workspace of an unknown preset. Minutes later it is announced who says why.",
        (PODS,),
        (
            Act("1m", "the chart is installed with a preset that there is not", preset_refused),
            Act("10m", "it is corrected", corrected),
        ),
    ),
    Scenario(
        "kaito-node-silent",
        "The node of a serving model is silent, and its pod evicted. A replica that served does not wait as one that starts.",
        (INFRA, PODS),
        (
            Act("1m", "the chart is installed", installed()),
            Act("20m", "the kubelet of its node is silent", node_silent, (PODS, "Node")),
            Act("25m", "its pod is evicted", pod_evicted, (INFRA, "NodeNotReady")),
            Act("30m", "the node is back", node_back, (READY, "")),
        ),
    ),
    Scenario(
        "kaito-machine-refused-late",
        "The cloud accepts each machine and gives it up before it is a node.",
        (INFRA, PODS),
        (
            Act(
                "1m",
                "the chart is installed",
                refused(ModelSpec(node_class="late"), "NodeClaimReady", "NodeClaim", wait=30),
                (INFRA, "given up"),
            ),
            Act("40m", "the cloud has room", cloud_answers("late"), (READY, "")),
        ),
    ),
    Scenario(
        "kaito-quota",
        "The cloud has no quota. Its answer stands in a condition for less than a second, and is what the operator reads.",
        (INFRA, PODS),
        (
            Act(
                "1m",
                "the chart is installed",
                refused(ModelSpec(node_class="quota"), "NodeClaimReady", "NodeClaim"),
                (INFRA, "quota"),
            ),
            Act("10m", "the quota is raised", cloud_answers("quota"), (READY, "")),
        ),
    ),
    Scenario(
        "kaito-cloud-forbids",
        "The cloud refuses each machine, for Karpenter may not create any.",
        (INFRA, PODS),
        (
            Act(
                "1m",
                "the chart is installed",
                refused(ModelSpec(node_class="forbidden"), "NodeClaimReady", "NodeClaim"),
                (INFRA, "AuthorizationFailed"),
            ),
            Act("10m", "Karpenter may create machines", cloud_answers("forbidden"), (READY, "")),
        ),
    ),
    Scenario(
        "kaito-node-never-joins",
        "A machine that starts and never becomes a node is announced after the time that a node may take.",
        (INFRA, PODS),
        (
            Act(
                "1m",
                "the chart is installed",
                refused(ModelSpec(node_class="never"), "NodeClaimReady", "NodeClaim"),
            ),
            Act(
                "40m", "its network is corrected, and the machine replaced", cloud_answers("never")
            ),
        ),
    ),
    Scenario(
        "kaito-crash-loop",
        "The model crashes. Deleting its pod, as the remedy says, brings no second announcement.",
        (PODS,),
        (
            Act("1m", "the chart is installed", installed()),
            Act("20m", "it crashes", pod_fails(faults.CRASH_LOOP), (PODS, "CrashLoopBackOff")),
            Act("30m", "its pod is deleted", pod_deleted, (READY, "")),
        ),
    ),
    Scenario(
        "kaito-image-pull",
        "The image of the model cannot be pulled.",
        (PODS,),
        (
            Act("1m", "the chart is installed", installed()),
            Act(
                "20m",
                "its node cannot pull",
                pod_fails(faults.IMAGE_PULL),
                (PODS, "ImagePullBackOff"),
            ),
            Act("30m", "its pod is deleted", pod_deleted, (READY, "")),
        ),
    ),
)
