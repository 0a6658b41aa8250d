"""
The reasons of engines as one table, `ENGINE_REASONS`, with the rules and the parameters of its rows.

A window is the hold of these reasons: each has its own, and a threshold. Of an engine that was observed
for less than the window it is not known that it has no trouble, which a predecessor of this process may
have seen.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial

from reporter.kinds.keda import HORIZONTAL_POD_AUTOSCALERS, SCALED_OBJECTS
from reporter.model.enums import DetailSource
from reporter.model.sanitize import human_duration
from reporter.probes import engine_probe, engine_view
from reporter.probes.engine_probe import Count, EngineParameters, Seconds
from reporter.probes.engine_view import EngineColumns, EngineOutcome, EngineTrouble, EngineView
from reporter.probes.probe import Probe, ProbeRequest
from reporter.resources.autoscaling import describe_replica_limit
from reporter.resources.inference_sets import get_inference_set
from reporter.scrape.columns import Column
from reporter.scrape.page_rows import POD_ROW
from reporter.snapshot.snapshot import Snapshot


def _describe_requests(numbers: Mapping[str, float]) -> str:
    running, waiting = numbers["running"], numbers["waiting"]
    return f"{running:.0f} request{'' if running == 1 else 's'} running, {waiting:.0f} waiting"


def _describe_duration(numbers: Mapping[str, float]) -> str:
    return human_duration(timedelta(seconds=numbers["lasted"]))


# --------------------------------------------------------------------
# An engine has requests and makes no progress.
#
# An engine that hangs still answers its health checks, since another process of the pod serves them.
# The page shows it: requests are running or waiting, and nothing that its steps change does. A step
# moves a counter, or the usage of the KV cache while it only prefills.
#
# The gauges of vLLM change with its steps only. After all requests were aborted at once they keep
# their last values, so an engine whose gauges and traffic stand still may just be idle, which is no
# stall: it is not known. vLLM 0.9.1 to 0.10.1 tells no number at all from a step without a token, so
# there a long prefill looks the same. The HTTP server counts a request when it ends, so those that
# were aborted may be counted on a page after that of the last step.


STALLED = "Stalled"
NO_COUNTERS = engine_view.EngineUnknown("its page has no counter of steps or generated tokens")
MAY_BE_IDLE = engine_view.EngineUnknown(
    "it makes no progress and no new requests are seen, so those that its page tells may be left"
    " over from aborted ones"
)


class StalledParameters(EngineParameters, frozen=True, kw_only=True):
    """
    The parameters of a stall.

    *window_seconds*: how long an engine with requests must make no progress. *min_pages*: how many pages
    must show it.
    """

    window_seconds: Seconds = 120
    min_pages: engine_probe.PageCount = 4

    @property
    def kept_pages(self) -> int:
        """
        The pages that must show a stall, since pages far apart may leave too few in the window.
        """
        return int(self.min_pages)


def evaluate_stall(
    engine: EngineView, columns: EngineColumns, given: StalledParameters
) -> EngineOutcome:
    """
    Return the trouble of an engine that has requests and has made no progress for the window.

    An idle or sleeping engine is well. One that stands still without new traffic is Unknown, as its
    gauges may be left over from aborted requests.
    """
    running, waiting = engine.value(columns.running), engine.value(columns.waiting)
    is_idle = running == 0 and waiting == 0
    if is_idle or engine.value(columns.awake) == 0:
        return None
    if not (running or waiting):
        return engine_view.NO_REQUESTS
    # Finished requests alone prove nothing: one may take an hour, and aborted ones do not count.
    if engine.value(columns.steps) is None and engine.value(columns.generation_tokens) is None:
        return NO_COUNTERS
    stopped = engine.last_change(columns.progress)
    if stopped == engine.now > engine.series.first_at:
        return None  # the newest page shows progress, as of most engines with requests
    since = max(stopped, _busy_since(engine, columns))
    lasted = engine.now - since
    if lasted >= given.window_seconds and engine.pages_since(since) >= given.kept_pages:
        if not _has_traffic(engine, columns, stopped=stopped):
            return MAY_BE_IDLE
        numbers = {"lasted": lasted, "running": running or 0.0, "waiting": waiting or 0.0}
        return EngineTrouble(STALLED, numbers)
    # An earlier page shows that it worked or was idle, so it is well until the window is full.
    worked = since > engine.series.first_at or engine.has_changed(columns.progress)
    return None if worked else engine_view.NOT_LONG_ENOUGH


def _busy_since(engine: EngineView, columns: EngineColumns) -> float:
    """Return since when the engine has been awake with requests."""
    gauges = (engine.positive_since(each) for each in (columns.running, columns.waiting))
    busy = min((each for each in gauges if each is not None), default=engine.now)
    return max(busy, engine.positive_since(columns.awake) or 0.0)


def _has_traffic(engine: EngineView, columns: EngineColumns, *, stopped: float) -> bool:
    """
    Return whether a gauge of requests, or a counter of them, moved after the progress ended.

    Requests that ended with the last step may yet be counted on the page that follows.
    """
    if engine.last_change((columns.running, columns.waiting)) > stopped:
        return True
    server, late = engine.server(), engine.readings.longest_gap
    return server is not None and server.last_change(columns.traffic) > stopped + late


def _describe_stall(_: str, numbers: Mapping[str, float]) -> str:
    return f"makes no progress for {_describe_duration(numbers)}: {_describe_requests(numbers)}"


# --------------------------------------------------------------------
# An engine that works has more requests than it can take: its KV cache is full while requests wait,
# or its queue is long and does not get shorter.


SATURATED, GROWING = "Saturated", "Growing"
NO_USAGE = engine_view.EngineUnknown("its page does not tell the usage of its KV cache")


class LoadParameters(EngineParameters, frozen=True, kw_only=True):
    """
    The parameters of a trouble that begins at a bound and ends below a lower one.

    *end_share*: the part of the bounds below which it ends, so that numbers around a bound are one
    episode. *progress_window_seconds*: within which the engine must have made progress.
    """

    end_share: engine_probe.Share
    progress_window_seconds: Seconds = 120


class SaturationParameters(LoadParameters, frozen=True, kw_only=True):
    """
    The parameters of a full KV cache.

    *min_usage*: the part of the cache, from 0 to 1, from which on it counts as full while requests wait.
    """

    min_usage: engine_probe.Share = 0.95
    end_share: engine_probe.Share = 0.9


class QueueParameters(LoadParameters, frozen=True, kw_only=True):
    """
    The parameters of a long queue.

    *min_waiting*: the least number of requests that wait. *min_ratio*: how many wait for each that runs.
    """

    min_waiting: Count = 10
    min_ratio: Count = 2
    end_share: engine_probe.Share = 0.5


def evaluate_saturation(
    engine: EngineView, columns: EngineColumns, given: SaturationParameters
) -> EngineOutcome:
    """
    Return the trouble of an engine whose KV cache is full while requests wait, for the whole window.

    It goes on until the usage is below the lower bound. A page without the usage makes it Unknown.
    """

    def is_full(share: float, page: Mapping[Column, float]) -> bool:
        usage, waiting = page.get(columns.kv_cache_usage, 0.0), page.get(columns.waiting, 0.0)
        return usage >= share * given.min_usage and waiting > 0

    usage, waiting = engine.value(columns.kv_cache_usage), engine.value(columns.waiting)
    if usage is None or waiting is None:
        return NO_USAGE if usage is None else engine_view.NO_REQUESTS
    numbers = {"usage": usage, "running": engine.value(columns.running) or 0.0, "waiting": waiting}
    return _between_bounds(engine, columns, given, is_full, EngineTrouble(SATURATED, numbers))


def evaluate_queue(
    engine: EngineView, columns: EngineColumns, given: QueueParameters
) -> EngineOutcome:
    """
    Return the trouble of an engine whose queue is long for the whole window and does not get shorter.

    It goes on until the queue is below the lower bound. An engine whose page does not tell the requests
    that wait is Unknown.
    """

    def is_long(share: float, page: Mapping[Column, float]) -> bool:
        running, waiting = page.get(columns.running, 0.0), page.get(columns.waiting, 0.0)
        return waiting >= share * max(given.min_waiting, given.min_ratio * running)

    waiting = engine.value(columns.waiting)
    if waiting is None:
        return engine_view.NO_REQUESTS
    numbers = {"running": engine.value(columns.running) or 0.0, "waiting": waiting}
    got_shorter = waiting < (engine.value_before(columns.waiting, given.window_seconds) or 0.0)
    trouble = EngineTrouble(GROWING, numbers, begins=not got_shorter)
    return _between_bounds(engine, columns, given, is_long, trouble)


def _between_bounds(
    engine: EngineView,
    columns: EngineColumns,
    given: LoadParameters,
    holds: Callable[[float, Mapping[Column, float]], bool],
    trouble: EngineTrouble,
) -> EngineOutcome:
    """
    Return the trouble, which begins after the window and then goes on until it is below a lower bound.

    *holds*: whether a page shows it, given the share of the bounds. *trouble*: if it may begin now.
    """
    window, progress_window = given.window_seconds, given.progress_window_seconds
    seconds, began_seen = engine.sustained(partial(holds, 1.0))
    if seconds:
        # The gauges of an engine without progress are left over from aborted requests, or it sleeps,
        # or it is stalled.
        if all(engine.value(each) is None for each in columns.counters):
            return engine_view.NO_PROGRESS_COUNTERS
        worked = engine.now - engine.working_since(columns.progress, progress_window)
        if seconds > worked:
            seconds, began_seen = worked, True
    if seconds < window and not began_seen:
        return engine_view.NOT_LONG_ENOUGH
    begins = trouble.begins and seconds >= window
    idle_for = engine.now - engine.last_change(columns.progress)
    goes_on = idle_for < progress_window and engine.holds(partial(holds, given.end_share))
    if not begins and not goes_on:
        return None
    # What goes on has lasted for the window, whatever is kept of it.
    lasted = max(seconds, window)
    return EngineTrouble(trouble.code, {**trouble.numbers, "lasted": lasted}, begins)


def _describe_saturation(_: str, numbers: Mapping[str, float]) -> str:
    lasted, requests = _describe_duration(numbers), _describe_requests(numbers)
    return f"has had a full KV cache for {lasted} ({numbers['usage']:.0%} now): {requests}"


def _describe_queue(_: str, numbers: Mapping[str, float]) -> str:
    requests = f"{numbers['waiting']:.0f} requests waiting, {numbers['running']:.0f} running"
    return f"has had a long queue for {_describe_duration(numbers)}: {requests}"


def _describe_limit(snapshot: Snapshot, request: ProbeRequest) -> str:
    inference_set = get_inference_set(snapshot, request.subject)
    if inference_set is None:
        return "its replicas are not known"
    return describe_replica_limit(snapshot, inference_set, request.unwatched)


# --------------------------------------------------------------------
# Too many of an engine's requests are preempted or fail.


PREEMPTING, FAILING, CORRUPTED = "Preempting", "Failing", "Corrupted"
NO_PREEMPTIONS = engine_view.EngineUnknown("its page does not count preemptions")
NO_RESULTS = engine_view.EngineUnknown("its page does not count the results of requests")


class PreemptionParameters(EngineParameters, frozen=True, kw_only=True):
    """
    The parameters of a storm, which must be seen in both halves of the window.

    *min_requests*, *min_preemptions*: one of these is enough, as in a storm nearly nothing may finish.
    *max_share*: preemptions of finished requests; above 1 if a request is preempted more than once.
    """

    min_requests: Count = 10
    min_preemptions: Count = 30
    max_share: Count = 0.2

    @property
    def kept_pages(self) -> int:
        """
        The pages at the ends of both halves of the window, which may be read less often than that.
        """
        return 3


class ErrorParameters(EngineParameters, frozen=True, kw_only=True):
    """
    The parameters of failed requests.

    *max_share*: the part of all requests, from 0 to 1, above which it is trouble. *min_requests*: the
    number of requests within the window below which it is none.
    """

    min_requests: Count = 20
    max_share: engine_probe.Share = 0.05


def evaluate_preemptions(
    engine: EngineView, columns: EngineColumns, given: PreemptionParameters
) -> EngineOutcome:
    """
    Return the trouble of an engine that preempts too many of its requests in both halves of the window.

    An engine that was observed for less than the window, or whose page lacks the counters, is Unknown.
    """
    if engine.value(columns.preemptions) is None or engine.value(columns.finished) is None:
        return NO_PREEMPTIONS
    kept, half = (columns.preemptions, columns.finished), given.window_seconds / 2
    late = engine.increase(half, *kept)
    # With pages further apart than half of the window, both halves are longer.
    whole = engine.increase(late.seconds + half, *kept)
    if whole.seconds < late.seconds + half:
        return engine_view.NOT_LONG_ENOUGH
    early = (one - other for one, other in zip(whole.by_column, late.by_column, strict=True))
    # In both halves, as a benchmark or a rush of a minute is soon over.
    for preempted, finished in (early, late.by_column):
        enough = finished >= given.min_requests / 2 or preempted >= given.min_preemptions / 2
        if not enough or preempted <= given.max_share * finished:
            return None
    preempted, finished = whole.by_column
    return EngineTrouble(PREEMPTING, {"preempted": preempted, "finished": finished})


def evaluate_errors(
    engine: EngineView, columns: EngineColumns, given: ErrorParameters
) -> EngineOutcome:
    """
    Evaluate the results of an engine's requests, and in the row of the pod those of its HTTP server.
    """
    has_results = engine.value(columns.finished) is not None
    if not has_results and engine.value(columns.http_requests) is None:
        return None if engine.name == POD_ROW else NO_RESULTS
    corrupted, finished = engine.increase(
        given.window_seconds, columns.corrupted, columns.finished
    ).by_column
    if corrupted > 0:
        requests = max(finished, corrupted)
        return EngineTrouble(CORRUPTED, {"failed": corrupted, "requests": requests})
    of_server = (columns.http_errors, columns.http_requests)
    return evaluate_share(engine, given, FAILING, (of_server, (columns.failed, columns.finished)))


def evaluate_share(
    engine: EngineView,
    given: ErrorParameters,
    code: str,
    counters: Iterable[tuple[Column, Column]],
) -> EngineOutcome:
    """
    Return the trouble of an engine of which too many of the counted requests went wrong in the window.

    *counters*: pairs of the counter of what went wrong and that of all. Without such trouble, an engine
    that was observed for less than the window is Unknown.
    """
    lasted = 0.0
    for part, whole in counters:
        increase = engine.increase(given.window_seconds, part, whole)
        failed, requests = increase.by_column
        if requests >= given.min_requests and failed > given.max_share * requests:
            return EngineTrouble(code, {"failed": failed, "requests": requests})
        lasted = increase.seconds
    return None if lasted >= given.window_seconds else engine_view.NOT_LONG_ENOUGH


def _describe_preemptions(_: str, numbers: Mapping[str, float]) -> str:
    finished = f"{numbers['finished']:.0f} requests finished"
    return f"preempted requests {numbers['preempted']:.0f} times while {finished}"


def _describe_errors(code: str, numbers: Mapping[str, float]) -> str:
    failed, requests = f"{numbers['failed']:.0f}", f"{numbers['requests']:.0f}"
    if code == CORRUPTED:
        return f"gave corrupted results (not a number) to {failed} of {requests} requests"
    return f"failed {failed} of {requests} requests"


# --------------------------------------------------------------------
# The table. Windows and thresholds of its rows are parameters of the catalogue.


ENGINE_REASONS = (
    engine_probe.EngineProbe(
        name="engine-stalled",
        parameters_type=StalledParameters,
        codes=(STALLED,),
        reads=lambda of: (of.running, of.waiting, of.awake, *of.progress, *of.traffic),
        rule=evaluate_stall,
        describe=_describe_stall,
        participle="stalled",
    ),
    engine_probe.EngineProbe(
        name="engine-kv-cache",
        parameters_type=SaturationParameters,
        codes=(SATURATED,),
        reads=lambda of: (of.running, of.waiting, of.kv_cache_usage, *of.progress),
        rule=evaluate_saturation,
        describe=_describe_saturation,
    ),
    engine_probe.EngineProbe(
        name="engine-queue",
        parameters_type=QueueParameters,
        codes=(GROWING,),
        reads=lambda of: (of.running, of.waiting, *of.progress),
        rule=evaluate_queue,
        describe=_describe_queue,
        # Looked up only for a message: an autoscaler that cannot be decoded leaves no queue unknown.
        more_fields={"replicas": _describe_limit},
        kinds_by_source={DetailSource.KEDA: (SCALED_OBJECTS, HORIZONTAL_POD_AUTOSCALERS)},
    ),
    engine_probe.EngineProbe(
        name="engine-preemptions",
        parameters_type=PreemptionParameters,
        codes=(PREEMPTING,),
        reads=lambda of: (of.preemptions, of.finished),
        rule=evaluate_preemptions,
        describe=_describe_preemptions,
    ),
    engine_probe.EngineProbe(
        name="engine-errors",
        parameters_type=ErrorParameters,
        codes=(CORRUPTED, FAILING),
        reads=lambda of: (
            *(of.http_requests, of.http_errors),
            *(of.finished, of.failed, of.corrupted),
        ),
        marks=lambda of: (of.finished, of.http_requests),
        rule=evaluate_errors,
        describe=_describe_errors,
    ),
)

PROBES: tuple[Probe, ...] = tuple(each.build() for each in ENGINE_REASONS)
