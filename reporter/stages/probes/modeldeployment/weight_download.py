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
from reporter.model.kinds import INFERENCE_SETS, NAMESPACES, PODS
from reporter.model.objects import Pod
from reporter.model.verdicts import Active, Cause, Clear, ObjectRef, Trouble, Unknown, Verdict
from reporter.model.words import Kind
from reporter.stages.indexes import by_model
from reporter.stages.loading import is_loading
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.ruling import involved
from reporter.stages.snapshot import Snapshot
from reporter.stages.windows import MEGABYTE, Download, Pace, Rules
from reporter.stages.windows import judge as judge_window
from reporter.stages.wording import duration


GIGABYTE = 1e9
BUDGET = timedelta(minutes=30)
"""
What the startup probe of KAITO's pods allows: 180 times 10 seconds.
"""

WHY = {
    Pace.UNREAD: "its page was not read yet",
    Pace.ABSENT: "its page does not tell the speed",
    Pace.FILLING: "it is slow, but not yet for as long as the window",
}


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    The flags that hold what is slow, and how often it is read.
    """

    window_flag: str
    min_mbps_flag: str
    metric_flag: str
    interval_flag: str


@dataclass(frozen=True, slots=True)
class Loading:
    """
    A pod and its download. *unknown*: why that cannot be judged now, empty if it can.
    """

    pod: Pod
    download: Download
    unknown: str = ""


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    subject, key = question.subject, question.key()
    rules = rules_of(question)
    pods = snapshot.find(PODS, Pod, by_model(subject.namespace, subject.name))
    found = [_look(snapshot, pod, rules) for pod in pods if is_loading(pod)]
    slow = [each for each in found if each.download.pace.slow]
    if any(not each.unknown for each in slow):
        # One that cannot be read now is still what it was, as long as another one speaks.
        troubles = tuple(_trouble(each, rules) for each in slow)
        return [Active(key, troubles, involved(snapshot, subject.namespace))]
    unknown = [f"pod {each.pod.metadata.name}: {each.unknown}" for each in found if each.unknown]
    return [Unknown(key, unknown[0]) if unknown else Clear(key)]


def rules_of(question: Question) -> Rules:
    parameters, flags = question.parameters, question.flags
    return _rules(
        flags[parameters.metric_flag],
        flags[parameters.window_flag],
        flags[parameters.interval_flag],
        flags[parameters.min_mbps_flag],
    )


@lru_cache(maxsize=8)
def _rules(metric: str, window: str, interval: str, min_mbps: str) -> Rules:
    return Rules(
        speed=metric,
        span=timedelta(seconds=float(window)),
        interval=timedelta(seconds=float(interval)),
        slow_below=float(min_mbps) * MEGABYTE,
    )


def _look(snapshot: Snapshot, pod: Pod, rules: Rules) -> Loading:
    meta, window = pod.metadata, snapshot.window(pod)
    if window is None:
        return Loading(pod, Download(Pace.UNREAD), WHY[Pace.UNREAD])
    download = judge_window(window, rules)
    if ObjectRef(PODS.qualified, meta.namespace, meta.name) in snapshot.spoilt:
        return Loading(pod, download, "its newest version could not be decoded")
    if window.unread is not None:
        return Loading(pod, download, window.unread.why)
    return Loading(pod, download, WHY.get(download.pace, ""))


def _trouble(loading: Loading, rules: Rules) -> Trouble:
    meta, download = loading.pod.metadata, loading.download
    ref = ObjectRef(PODS.qualified, meta.namespace, meta.name)
    return Trouble(
        cause=Cause(ref, "Stalled" if download.pace is Pace.STALLED else "Slow"),
        kind=Kind.FAILED,
        since=download.since,
        born=meta.creation_timestamp,
        fields={
            "window": duration(rules.span),
            "limit": speed(rules.slow_below),
            "worst": speed(download.worst),
            "outlook": _outlook(loading),
            "pod": meta.name,
            "source": meta.name,
        },
    )


def _outlook(loading: Loading) -> str:
    """
    What remains and how long that takes, against what the startup probe leaves.
    """
    download, parts = loading.download, [""]
    if download.pace is Pace.STALLED:
        parts.append("nothing arrives")
    elif download.remaining is not None and download.left:
        takes = duration(download.remaining)
        parts.append(f"{download.left / GIGABYTE:.1f} GB left take {takes} at this pace")
    started = _started(loading.pod)
    if started is not None and download.at is not None and len(parts) > 1:
        left = started + BUDGET - download.at
        leaves = f"the startup probe leaves {duration(left)}"
        over = f"the {duration(BUDGET)} of the startup probe are over"
        parts.append(leaves if left > timedelta(0) else over)
    return ", ".join(parts)


def _started(pod: Pod) -> datetime | None:
    """
    When the container that loads the model did; of several, the last one.
    """
    running = (each.state.running for each in pod.status.container_statuses or ())
    return max((r.started_at for r in running if r is not None and r.started_at), default=None)


def speed(bytes_a_second: float) -> str:
    """
    Rounded down, so that what is below a limit does not read like it.
    """
    tenths = int(bytes_a_second / MEGABYTE * 10 + 1e-6) / 10
    return f"{tenths:g} MB/s"


PROBE = Probe(
    ProbeSpec(
        name="weight-download",
        parameters=Parameters,
        fields=frozenset({"window", "limit", "worst", "outlook", "pod", "source"}),
        codes=frozenset({"Slow", "Stalled"}),
        requires=(INFERENCE_SETS, PODS),
        uses=(NAMESPACES,),
        demands=lambda _: frozenset({INFERENCE_SETS.qualified}),
        pauses=True,
        scrapes=True,
    ),
    judge,
)
