"""
Detect that the weights of a model download too slowly, by the metrics of the pods that load it.

Each pod is evaluated alone, so that a slow one is not hidden by fast ones.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import lru_cache, partial

from msgspec import Struct

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES, PODS, Pod
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.objects import inference_set_key
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import human_duration
from reporter.model.verdicts import Active, Cause, Clear, Trouble, Unknown, Verdict
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of
from reporter.resources import downloads
from reporter.resources.check_result import involved_namespace
from reporter.resources.downloads import Download, DownloadRules, DownloadState
from reporter.scrape.samples import ScrapeHistory, add_scrape
from reporter.scrape.scrapes import Scrape
from reporter.snapshot.loading import NOT_READ, has_page, is_loading
from reporter.snapshot.scrape_targets import LOADING
from reporter.snapshot.snapshot import Snapshot


GIGABYTE = 1e9
STARTUP_PROBE_BUDGET = timedelta(minutes=30)
"""The time that the startup probe of KAITO's pods allows: 180 attempts, 10 seconds apart."""

WHY_UNKNOWN = {
    DownloadState.NOT_SCRAPED: "its page was not read yet",
    DownloadState.NO_METRIC: "its page does not tell the speed",
    DownloadState.SLOW_SO_FAR: "it is slow, but not yet for as long as the window",
}


class WeightDownloadParameters(ProbeParameters, frozen=True):
    """Names of the flags that say what is slow, and what is read where and how often."""

    window_flag: str
    min_mbps_flag: str
    metric_flag: str
    interval_flag: str
    port_flag: str = "weight-download-metric-port"


class PodDownload(Struct, frozen=True):
    """
    A pod and its download.

    *why_unknown*: why the download cannot be evaluated now; empty if it can.
    """

    pod: Pod
    download: Download
    why_unknown: str = ""


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """
    Return one verdict on the pods of an InferenceSet that load weights.

    It is Clear if no speed counts as slow. It is Unknown only while no pod is known to be slow.
    """
    subject, key = request.subject, request.key()
    rules = download_rules(request.parameters, request.flags)
    if not rules.slow_below:
        return [Clear(key)]
    pods = snapshot.by_index(PODS, Pod, inference_set_key(subject.namespace, subject.name))
    found = [
        _evaluate_pod(pod, snapshot.scrape_history(pod, request.reason), rules)
        for pod in pods
        if is_loading(pod)
    ]
    if not found:
        return [Clear(key)]
    slow = [each for each in found if each.download.state.is_slow]
    if any(not each.why_unknown for each in slow):
        # Slow pods whose page cannot be read now stay in the list while another one is known to
        # be slow, so that a single failed scrape does not change the message.
        troubles = tuple(_new_trouble(each, rules) for each in slow)
        return [Active(key, troubles, involved_namespace(snapshot, subject.namespace))]
    unknown = [
        f"pod {each.pod.metadata.name}: {each.why_unknown}" for each in found if each.why_unknown
    ]
    return [Unknown(key, unknown[0]) if unknown else Clear(key)]


def build_scrape(parameters: WeightDownloadParameters, flags: Mapping[str, str]) -> Scrape | None:
    """Build the request for the two gauges of loading pods; None if no speed is too slow."""
    rules = download_rules(parameters, flags)
    if not rules.slow_below:
        return None
    return Scrape(
        families=(rules.speed_metric, downloads.REMAINING_SECONDS_METRIC),
        prefixes=(downloads.ENGINE_METRIC_PREFIX,),
        pods=LOADING,
        port=int(flags[parameters.port_flag]),
        keep=partial(add_scrape, retention=rules.window),
        fingerprints=(partial(summarize_history, rules),),
    )


def summarize_history(rules: DownloadRules, history: ScrapeHistory) -> tuple[str, DownloadState]:
    """
    Return why the last scrape failed, empty if it did not, and the state of the download.

    A scrape that leaves both as they were causes no evaluation.
    """
    why = history.last_failure.why if history.last_failure is not None else ""
    return why, downloads.evaluate_download(history, rules).state


def _why_no_check(parameters: WeightDownloadParameters, flags: Mapping[str, str]) -> str:
    """Return what to set if no speed is slow."""
    is_on = download_rules(parameters, flags).slow_below > 0
    return "" if is_on else f"set --{parameters.min_mbps_flag} above 0"


def download_rules(
    parameters: WeightDownloadParameters, flags: Mapping[str, str]
) -> DownloadRules:
    """
    Return the rules by the values of the flags that the parameters name; equal values share them.

    A minimum of 0 MB/s switches the reason off.
    """
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
        slow_below=float(min_mbps) * downloads.MEGABYTE,
    )


def _evaluate_pod(pod: Pod, history: ScrapeHistory | None, rules: DownloadRules) -> PodDownload:
    if history is None:
        why = WHY_UNKNOWN[DownloadState.NOT_SCRAPED] if has_page(pod) else NOT_READ
        return PodDownload(pod, Download(DownloadState.NOT_SCRAPED), why)
    download = downloads.evaluate_download(history, rules)
    if history.last_failure is not None:
        return PodDownload(pod, download, history.last_failure.why)
    return PodDownload(pod, download, WHY_UNKNOWN.get(download.state, ""))


def _new_trouble(loading: PodDownload, rules: DownloadRules) -> Trouble:
    meta, download = loading.pod.metadata, loading.download
    code = "Stalled" if download.state is DownloadState.STALLED else "Slow"
    return Trouble(
        cause=Cause(PODS.ref_to(loading.pod), code),
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
    """Describe the remaining time of the download and that of the startup probe."""
    download, parts = loading.download, [""]
    if download.state is DownloadState.STALLED:
        parts.append("nothing arrives")
    elif download.remaining_time is not None and download.remaining_bytes:
        takes = human_duration(download.remaining_time)
        parts.append(
            f"{download.remaining_bytes / GIGABYTE:.1f} GB left take {takes} at this pace"
        )
    # Of the containers the last one loads the model.
    running = (each.state.running for each in loading.pod.status.container_statuses or ())
    started = max((r.started_at for r in running if r and r.started_at), default=None)
    if started is not None and download.sampled_at is not None and len(parts) > 1:
        left = started + STARTUP_PROBE_BUDGET - download.sampled_at
        leaves = f"the startup probe leaves {human_duration(left)}"
        over = f"the {human_duration(STARTUP_PROBE_BUDGET)} of the startup probe are over"
        parts.append(leaves if left > timedelta(0) else over)
    return ", ".join(parts)


def format_speed(bytes_a_second: float) -> str:
    """Format in MB/s, rounded down so that a speed below the limit never reads like the limit."""
    tenths = int(bytes_a_second / downloads.MEGABYTE * 10 + 1e-6) / 10
    return f"{tenths:g} MB/s"


PROBE = Probe(
    ProbeSpec(
        name="weight-download",
        parameters_type=WeightDownloadParameters,
        message_fields=frozenset({"window", "limit", "worst", "outlook", "pod", "source"}),
        cause_codes=frozenset({"Slow", "Stalled"}),
        required_kinds=(INFERENCE_SETS, PODS),
        optional_kinds=(NAMESPACES,),
        required_crds=crds_of(INFERENCE_SETS),
        pauses_at_zero_replicas=True,
        why_no_check=_why_no_check,
        scrape=build_scrape,
    ),
    evaluate,
)
