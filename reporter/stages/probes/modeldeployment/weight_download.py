"""
Whether the weights of a model arrive too slowly, as the pods that load it say themselves.

Each pod is judged alone, so that a slow one does not hide behind those that are fast.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.keys import inference_set_key
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.verdicts import Active, Cause, Clear, ObjectRef, Trouble, Unknown, Verdict
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import involved_namespace
from reporter.stages.resources.downloads import MEGABYTE, Download, DownloadRules, DownloadState
from reporter.stages.resources.downloads import evaluate_download as judge_window
from reporter.stages.snapshot.loading import is_loading
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.phrases import human_duration


GIGABYTE = 1e9
STARTUP_PROBE_BUDGET = timedelta(minutes=30)
"""
What the startup probe of KAITO's pods allows: 180 times 10 seconds.
"""

WHY_UNKNOWN = {
    DownloadState.NOT_SCRAPED: "its page was not read yet",
    DownloadState.NO_METRIC: "its page does not tell the speed",
    DownloadState.SLOW_SO_FAR: "it is slow, but not yet for as long as the window",
}


class WeightDownloadParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    The flags that hold what is slow, and how often it is read.
    """

    window_flag: str
    min_mbps_flag: str
    metric_flag: str
    interval_flag: str


@dataclass(frozen=True, slots=True)
class PodDownload:
    """
    A pod and its download. *unknown*: why that cannot be judged now, empty if it can.
    """

    pod: Pod
    download: Download
    why_unknown: str = ""


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    subject, key = question.subject, question.key()
    rules = download_rules(question)
    pods = snapshot.by_index(PODS, Pod, inference_set_key(subject.namespace, subject.name))
    found = [_evaluate_pod(snapshot, pod, rules) for pod in pods if is_loading(pod)]
    slow = [each for each in found if each.download.state.is_slow]
    if any(not each.why_unknown for each in slow):
        # One that cannot be read now is still what it was, as long as another one speaks.
        troubles = tuple(_new_trouble(each, rules) for each in slow)
        return [Active(key, troubles, involved_namespace(snapshot, subject.namespace))]
    unknown = [
        f"pod {each.pod.metadata.name}: {each.why_unknown}" for each in found if each.why_unknown
    ]
    return [Unknown(key, unknown[0]) if unknown else Clear(key)]


def download_rules(question: ProbeRequest) -> DownloadRules:
    parameters, flags = question.parameters, question.flags
    return _parse_rules(
        flags[parameters.metric_flag],
        flags[parameters.window_flag],
        flags[parameters.interval_flag],
        flags[parameters.min_mbps_flag],
    )


@lru_cache(maxsize=8)
def _parse_rules(metric: str, window: str, interval: str, min_mbps: str) -> DownloadRules:
    return DownloadRules(
        speed_metric=metric,
        window=timedelta(seconds=float(window)),
        scrape_interval=timedelta(seconds=float(interval)),
        slow_below=float(min_mbps) * MEGABYTE,
    )


def _evaluate_pod(snapshot: Snapshot, pod: Pod, rules: DownloadRules) -> PodDownload:
    meta, window = pod.metadata, snapshot.scrape_history(pod)
    if window is None:
        return PodDownload(
            pod, Download(DownloadState.NOT_SCRAPED), WHY_UNKNOWN[DownloadState.NOT_SCRAPED]
        )
    download = judge_window(window, rules)
    if ObjectRef(PODS.group_resource, meta.namespace, meta.name) in snapshot.undecodable:
        return PodDownload(pod, download, "its newest version could not be decoded")
    if window.last_failure is not None:
        return PodDownload(pod, download, window.last_failure.why)
    return PodDownload(pod, download, WHY_UNKNOWN.get(download.state, ""))


def _new_trouble(loading: PodDownload, rules: DownloadRules) -> Trouble:
    meta, download = loading.pod.metadata, loading.download
    ref = ObjectRef(PODS.group_resource, meta.namespace, meta.name)
    return Trouble(
        cause=Cause(ref, "Stalled" if download.state is DownloadState.STALLED else "Slow"),
        kind=TroubleKind.FAILED,
        since=download.slow_since,
        object_created_at=meta.creation_timestamp,
        message_fields={
            "window": human_duration(rules.window),
            "limit": format_speed(rules.slow_below),
            "worst": format_speed(download.lowest_speed),
            "outlook": _describe_outlook(loading),
            "pod": meta.name,
            "source": meta.name,
        },
    )


def _describe_outlook(loading: PodDownload) -> str:
    """
    What remains and how long that takes, against what the startup probe leaves.
    """
    download, parts = loading.download, [""]
    if download.state is DownloadState.STALLED:
        parts.append("nothing arrives")
    elif download.remaining_time is not None and download.remaining_bytes:
        takes = human_duration(download.remaining_time)
        parts.append(
            f"{download.remaining_bytes / GIGABYTE:.1f} GB left take {takes} at this pace"
        )
    started = _started_at(loading.pod)
    if started is not None and download.sampled_at is not None and len(parts) > 1:
        left = started + STARTUP_PROBE_BUDGET - download.sampled_at
        leaves = f"the startup probe leaves {human_duration(left)}"
        over = f"the {human_duration(STARTUP_PROBE_BUDGET)} of the startup probe are over"
        parts.append(leaves if left > timedelta(0) else over)
    return ", ".join(parts)


def _started_at(pod: Pod) -> datetime | None:
    """
    When the container that loads the model did; of several, the last one.
    """
    running = (each.state.running for each in pod.status.container_statuses or ())
    return max((r.started_at for r in running if r is not None and r.started_at), default=None)


def format_speed(bytes_a_second: float) -> str:
    """
    Rounded down, so that what is below a limit does not read like it.
    """
    tenths = int(bytes_a_second / MEGABYTE * 10 + 1e-6) / 10
    return f"{tenths:g} MB/s"


PROBE = Probe(
    ProbeSpec(
        name="weight-download",
        parameters_type=WeightDownloadParameters,
        message_fields=frozenset({"window", "limit", "worst", "outlook", "pod", "source"}),
        cause_codes=frozenset({"Slow", "Stalled"}),
        required_kinds=(INFERENCE_SETS, PODS),
        optional_kinds=(NAMESPACES,),
        required_crds=lambda _: frozenset({INFERENCE_SETS.group_resource}),
        pauses_at_zero_replicas=True,
        reads_metrics=True,
    ),
    evaluate,
)
