"""The words that describe objects and metrics pages, instead of the fields of the API."""

from typing import Annotated, TypeAlias, TypeVar

from msgspec import Meta

from reporter.catalogue.format import CatalogueStruct
from reporter.scrape.samples import ScrapeResult


T = TypeVar("T")
Word: TypeAlias = T | None
"""A word; null takes it back."""

Count = Annotated[int, Meta(ge=0, le=100_000, extra={"is": "a whole number, 0 or more"})]
Number: TypeAlias = int | float


class DeploymentNotation(CatalogueStruct, frozen=True, kw_only=True):
    """A Deployment."""

    replicas: Annotated[Word[Count], Meta(description="Wished for. Absent: 1.")] = None
    ready: Annotated[Word[Count], Meta(description="Absent: all.")] = None
    updated: Annotated[Word[Count], Meta(description="Absent: all.")] = None
    total: Annotated[Word[Count], Meta(description="Absent: all.")] = None
    available: Annotated[Word[Count], Meta(description="Absent: those that are ready.")] = None
    rollout: Annotated[Word[str], Meta(description="Reason of its condition Progressing.")] = None
    refused: Annotated[Word[str], Meta(description="Message of its condition ReplicaFailure.")] = (
        None
    )
    paused: Word[bool] = None
    stale: Annotated[
        Word[bool], Meta(description="Its controller has not looked at it since it changed.")
    ] = None
    deleting: Word[bool] = None
    age: Annotated[Word[str], Meta(description="How old it is, as 5m.")] = None
    labels: Word[dict[str, str]] = None


class PodNotation(CatalogueStruct, frozen=True, kw_only=True):
    """A Pod, named `<deployment>-<hash>-<suffix>`, or `<workspace>-<index>` with *model*."""

    ready: Annotated[Word[bool], Meta(description="Absent: true.")] = None
    model: Annotated[Word[str], Meta(description="Its InferenceSet.")] = None
    node: Word[str] = None
    host_network: Annotated[Word[bool], Meta(description="It has the address of its node.")] = None
    revision: Annotated[Word[str], Meta(description="Of the template it was made from.")] = None
    waiting: Annotated[Word[str], Meta(description="Reason of its waiting container.")] = None
    message: Annotated[Word[str], Meta(description="Message of its waiting container.")] = None
    exit_code: Annotated[Word[int], Meta(description="Of its container that ended.")] = None
    ended: Annotated[Word[str], Meta(description="Reason of the container that ended.")] = None
    last_exit: Annotated[Word[int], Meta(description="Exit code of the run before.")] = None
    last: Annotated[Word[str], Meta(description="Reason of the end of the run before.")] = None
    restarts: Word[Count] = None
    container: Annotated[Word[str], Meta(description="Name of its first container.")] = None
    container_ready: Annotated[
        Word[bool], Meta(description="Of its first container; absent: as the Pod.")
    ] = None
    sidecars: Annotated[
        Word[dict[str, bool | str]],
        Meta(description="Further containers by name: whether each is ready, or why it waits."),
    ] = None
    containers: Annotated[
        Word[bool], Meta(description="false: the kubelet has not written their status.")
    ] = None
    unschedulable: Annotated[Word[str], Meta(description="Message of the scheduler.")] = None
    disrupted: Annotated[Word[str], Meta(description="Reason of its disruption.")] = None
    why: Annotated[Word[str], Meta(description="Reason of its condition Ready.")] = None
    details: Annotated[Word[str], Meta(description="Message of its condition Ready.")] = None
    phase: Word[str] = None
    reason: Annotated[Word[str], Meta(description="Of its status, as Evicted.")] = None
    failure: Annotated[Word[str], Meta(description="Message of its status.")] = None
    owner: Annotated[Word[str], Meta(description="Kind of what controls it.")] = None
    labels: Word[dict[str, str]] = None
    deleting: Word[bool] = None
    age: Annotated[Word[str], Meta(description="How old it is, as 5m.")] = None


class WorkspaceNotation(CatalogueStruct, frozen=True, kw_only=True):
    """
    A Workspace. A condition is `ready`, `none` for absent, or the reason (and `: message`) for False.
    """

    of: Annotated[Word[str], Meta(description="Its InferenceSet.")] = None
    claims: Annotated[Word[str], Meta(description="Its condition NodeClaimReady.")] = None
    nodes: Annotated[Word[str], Meta(description="Its condition NodesReady.")] = None
    resources: Annotated[Word[str], Meta(description="Its condition ResourceReady.")] = None
    inference: Annotated[Word[str], Meta(description="Its condition InferenceReady.")] = None
    pods: Annotated[Word[Count], Meta(description="How many pods it has. Absent: 1.")] = None
    state: Annotated[Word[str], Meta(description="Value of its status.state.")] = None
    upgrade: Annotated[
        Word[str], Meta(description="When an upgrade in place was requested, since the start.")
    ] = None
    silent: Annotated[Word[bool], Meta(description="KAITO has not looked at it.")] = None
    deleting: Word[bool] = None
    age: Annotated[Word[str], Meta(description="How old it is, as 5m.")] = None


class PageNotation(CatalogueStruct, frozen=True, kw_only=True):
    """The metrics page of a Pod."""

    speed: Annotated[Word[str], Meta(description="Of its download, as 12.5 MB/s.")] = None
    left: Annotated[Word[str], Meta(description="What is yet to arrive, as 52 GB.")] = None
    remaining: Annotated[
        Word[str], Meta(description="The time that is left, as 90s, whatever the speed.")
    ] = None
    engine: Annotated[Word[bool], Meta(description="true: a page of vLLM itself.")] = None
    metric: Annotated[Word[bool], Meta(description="false: no metrics of downloads.")] = None
    samples: Annotated[
        Word[dict[str, Word[Number]]], Meta(description="Other gauges, each with its value.")
    ] = None
    unreadable: Annotated[Word[str], Meta(description="Why there is no page.")] = None
    result: Annotated[
        Word[ScrapeResult], Meta(description="With unreadable: the class of the failure.")
    ] = None
    page: Annotated[Word[str], Meta(description="A recorded page of a model server.")] = None
    values: Annotated[
        Word[dict[str, Word[Number]]],
        Meta(description="Numbers of the recorded page, by short name."),
    ] = None
    rates: Annotated[
        Word[dict[str, Word[Number]]], Meta(description="How much each number grows in a second.")
    ] = None
    without: Annotated[
        Word[list[str]], Meta(description="Families that the page lacks, by short name.")
    ] = None
