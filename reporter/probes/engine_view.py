"""The recent numbers of one engine, read by column."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import isnan
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from reporter.scrape.columns import Column, Combine
from reporter.scrape.page_rows import POD_ROW
from reporter.scrape.readings import EngineReadings, EngineSeries


# --------------------------------------------------------------------
# The metric families of model servers, and the columns that are kept of them.
#
# The defaults are those of vLLM (vllm/v1/metrics/loggers.py) and its earlier names, of the HTTP server
# around it (prometheus-fastapi-instrumentator) and of KAITO's wrapper.


class EngineFamilies(
    Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", cache_hash=True
):
    """
    Names of metric families; of alternatives the first that is on the page counts.

    Of a histogram the number of observed values is read. *generating_handlers*: values of the label
    ``handler`` whose requests ask the model; no others are counted.
    """

    running: tuple[str, ...] = ("vllm:num_requests_running",)
    waiting: tuple[str, ...] = ("vllm:num_requests_waiting",)
    kv_cache_usage: tuple[str, ...] = ("vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc")
    sleep_state: tuple[str, ...] = ("vllm:engine_sleep_state",)
    steps: tuple[str, ...] = ("vllm:iteration_tokens_total",)
    prompt_tokens: tuple[str, ...] = ("vllm:prompt_tokens_total",)
    generation_tokens: tuple[str, ...] = ("vllm:generation_tokens_total",)
    finished: tuple[str, ...] = ("vllm:request_success_total",)
    preemptions: tuple[str, ...] = ("vllm:num_preemptions_total",)
    corrupted: tuple[str, ...] = ("vllm:corrupted_requests_total",)
    http_requests: tuple[str, ...] = ("http_requests_total",)
    rejected: tuple[str, ...] = ("kaito_ratelimit_rejected_total",)
    generating_handlers: tuple[str, ...] = (
        "/classify",
        "/cohere/v2/chat",
        "/generative_scoring",
        "/inference/v1/generate",
        "/invocations",
        "/pooling",
        "/rerank",
        "/score",
        "/v1/audio/transcriptions",
        "/v1/audio/translations",
        "/v1/chat/completions",
        "/v1/chat/completions/batch",
        "/v1/completions",
        "/v1/decisions",
        "/v1/embeddings",
        "/v1/messages",
        "/v1/rerank",
        "/v1/responses",
        "/v1/score",
        "/v1/systemone",
        "/v2/embed",
        "/v2/rerank",
    )


class EngineColumns(Struct, frozen=True):
    """The columns of all families; each probe asks for those that it reads."""

    running: Column
    waiting: Column
    kv_cache_usage: Column
    kv_cache_moves: Column
    awake: Column
    steps: Column
    prompt_tokens: Column
    generation_tokens: Column
    finished: Column
    failed: Column
    preemptions: Column
    corrupted: Column
    http_requests: Column
    http_errors: Column
    rejected: Column

    @property
    def counters(self) -> tuple[Column, ...]:
        """The counters of an engine's work, which vLLM moves in steps that give tokens."""
        return (self.steps, self.prompt_tokens, self.generation_tokens, self.finished)

    @property
    def progress(self) -> tuple[Column, ...]:
        """
        The numbers of which at least one changes while an engine works on a request.

        A chunk of a prefill that is not the last gives no token. While nothing else runs, it moves the
        usage of the KV cache alone (vLLM: ``output_handler`` in vllm/v1/engine/async_llm.py has
        IterationStats only with outputs, ``update_from_output`` in vllm/v1/core/sched/scheduler.py
        returns "no partial prefill outputs", but the statistics of the scheduler).
        """
        return (*self.counters, self.kv_cache_moves)

    @property
    def traffic(self) -> tuple[Column, ...]:
        """
        The counters that move with new requests whatever the engine does.

        KAITO rejects requests while vLLM's gauge of waiting ones is high. If that is left over from aborted
        requests, all are rejected, and without any the gauge never changes: so rejections show a stall.
        """
        return (self.http_requests, self.rejected)


@lru_cache(maxsize=32)
def engine_columns(families: EngineFamilies) -> EngineColumns:
    """
    Return the columns to read from a page, by the names that the catalogue gives vLLM's metric families.

    Equal families share the columns, which are keys of many mappings.
    """
    handlers = ("handler", frozenset(families.generating_handlers))
    return EngineColumns(
        running=Column(families.running, Combine.GAUGE),
        waiting=Column(families.waiting, Combine.GAUGE),
        kv_cache_usage=Column(families.kv_cache_usage, Combine.SHARE),
        # From 0.9.2 to 0.11.0 kv_cache_usage_perc has a series for each process of the server, of which
        # all but one stand still (vllm/v1/metrics/loggers.py: no multiprocess_mode; scheduler.py: "only
        # one of the front-ends"), so the highest may hide what moves. Until 0.10 the earlier name is
        # there too, with the newest number alone, and comes first.
        kv_cache_moves=Column(families.kv_cache_usage, Combine.SUM),
        awake=Column(families.sleep_state, Combine.SHARE, only=("sleep_state", ("awake",))),
        steps=Column(families.steps, Combine.COUNTER),
        prompt_tokens=Column(families.prompt_tokens, Combine.COUNTER),
        generation_tokens=Column(families.generation_tokens, Combine.COUNTER),
        finished=Column(families.finished, Combine.COUNTER),
        failed=Column(families.finished, Combine.COUNTER, only=("finished_reason", ("error",))),
        preemptions=Column(families.preemptions, Combine.COUNTER),
        corrupted=Column(families.corrupted, Combine.COUNTER),
        # Refused with 4xx, a request never reaches the engine.
        http_requests=Column(
            families.http_requests, Combine.COUNTER, only=("status", ("2", "5")), among=handlers
        ),
        http_errors=Column(
            families.http_requests, Combine.COUNTER, only=("status", ("5",)), among=handlers
        ),
        rejected=Column(families.rejected, Combine.COUNTER),
    )


# --------------------------------------------------------------------
# The outcome of a check of one engine.


class EngineTrouble(Struct, frozen=True):
    """
    One engine with trouble.

    *code*: the cause code. *numbers*: those that the message gives. *begins*: False if it may only go
    on, below the bound at which such trouble begins.
    """

    code: str
    numbers: Mapping[str, float]
    begins: bool = True


class EngineUnknown(Struct, frozen=True):
    """An engine that cannot be evaluated, with why. *is_brief*: more pages will show its state."""

    why: str
    is_brief: bool = False


EngineOutcome: TypeAlias = EngineTrouble | EngineUnknown | None

NOT_LONG_ENOUGH = EngineUnknown("it was not observed for as long as the window yet", is_brief=True)
NO_REQUESTS = EngineUnknown("its page does not tell its requests")
NO_PROGRESS_COUNTERS = EngineUnknown("its page has no counter of its progress")


def fingerprint_of(outcome: EngineOutcome) -> str:
    """Return the part of an outcome that a verdict depends on, which its numbers are not."""
    match outcome:
        case EngineTrouble(code, _, begins):
            return code if begins else f"{code} if it has begun"
        case EngineUnknown(why, _):
            return why
        case None:
            return ""


class Sustained(NamedTuple):
    """
    The seconds up to now for which a condition held on every page.

    *began_seen*: an earlier page of this run shows that it did not hold before.
    """

    seconds: float
    began_seen: bool


class Increase(NamedTuple):
    """The increases of some counters within the same stretch of time, of *seconds*."""

    seconds: float
    by_column: tuple[float, ...]


class EngineView(Struct, frozen=True, gc=False):
    """
    The view of one engine's kept pages by column, as the rules of engine reasons read it.

    *name*: the value of the engine label, empty without one. *positions*: of the columns in a row. A
    pass builds one for each engine, so it is a struct: cheaper than a dataclass.
    """

    name: str
    series: EngineSeries
    readings: EngineReadings
    positions: Mapping[Column, int]

    @property
    def now(self) -> float:
        """The time of the newest page, in seconds of observed time."""
        return self.readings.observed

    def server(self) -> "EngineView | None":
        """Return the row of the pod's HTTP server, None if the page has none."""
        series = self.readings.by_engine.get(POD_ROW)
        if series is None:
            return None
        return EngineView(POD_ROW, series, self.readings, self.positions)

    def value(self, column: Column) -> float | None:
        """Return the newest number of a column; None if the newest page lacks it."""
        return _number(self.series.rows[-1][self.positions[column]])

    def changed_at(self, column: Column) -> float:
        """
        Return when a column first had the value that it has now, in seconds of observed time.
        """
        return self.series.changed_at[self.positions[column]]

    def positive_since(self, column: Column) -> float | None:
        """
        Return since when a gauge has been above 0, in seconds of observed time; None if it is not.
        """
        return _number(self.series.positive_since[self.positions[column]])

    def last_change(self, columns: Iterable[Column]) -> float:
        """Return when any of the columns changed last, in seconds of observed time."""
        changed_at, positions = self.series.changed_at, self.positions
        return max([changed_at[positions[each]] for each in columns])

    def pages_since(self, moment: float) -> int:
        """
        Count the kept pages that were read at *moment* or later, in seconds of observed time.
        """
        return sum(at >= moment for at in self.series.times)

    def holds(self, condition: Callable[[Mapping[Column, float]], bool]) -> bool:
        """Return whether a condition holds on the newest page."""
        _, newest = next(self._pages_back())
        return condition(newest)

    def sustained(self, holds: Callable[[Mapping[Column, float]], bool]) -> Sustained:
        """
        Return how long a condition has held. *holds*: reads the numbers of a page, absent ones left out.
        """
        since = self.now
        for at, values in self._pages_back():
            if not holds(values):
                return Sustained(self.now - since, began_seen=True)
            since = at
        return Sustained(self.now - since, began_seen=False)

    def working_since(self, columns: Iterable[Column], within: float) -> float:
        """
        Return since when one of these changed at least every *within* seconds; now if none does.

        It may have changed at any time between two pages that differ, however far apart they are.
        """
        indexes = [self.positions[each] for each in columns]
        resumed, still, newer = self.now, 0.0, None
        for at, row in self.series.newest_first():
            if newer is None:
                pass
            elif any(not _is_same(newer[1][i], row[i]) for i in indexes):
                resumed, still = at, 0.0
            else:
                still += newer[0] - at
                if still >= within:
                    return resumed
            newer = at, row
        return self.series.times[0]

    def value_before(self, column: Column, seconds: float) -> float | None:
        """
        Return the number that a column had *seconds* ago, or on the oldest page; None if it had none.
        """
        return _number(self._row_before(seconds)[1][self.positions[column]])

    def increase(self, seconds: float, *columns: Column) -> Increase:
        """
        Return how much these counters rose in the last *seconds*, or since the oldest page.

        A counter that was not on the earlier page has no known increase, which counts as 0. The result
        says how long the stretch really is.
        """
        at, before = self._row_before(seconds)
        newest = self.series.rows[-1]
        found = (newest[i] - before[i] for i in map(self.positions.__getitem__, columns))
        return Increase(self.now - at, tuple(_number(each) or 0.0 for each in found))

    def has_changed(self, columns: Iterable[Column]) -> bool:
        """Return whether one of these is another than on the oldest page, also after gaps."""
        oldest, newest = self.series.rows[0], self.series.rows[-1]
        indexes = map(self.positions.__getitem__, columns)
        return any(not _is_same(newest[i], oldest[i]) for i in indexes)

    def _row_before(self, seconds: float) -> tuple[float, "array[float]"]:
        oldest = self.series.times[0], self.series.rows[0]
        old_enough = (each for each in self.series.newest_first() if self.now - each[0] >= seconds)
        return next(old_enough, oldest)

    def _pages_back(self) -> Iterator[tuple[float, Mapping[Column, float]]]:
        for at, row in self.series.newest_first():
            pairs = zip(self.readings.columns, row, strict=True)
            yield at, {column: value for column, value in pairs if not isnan(value)}


def engine_views(readings: EngineReadings, marks: tuple[Column, ...]) -> list[EngineView]:
    """Return the engines of a page: the rows that have or had a number in one of these columns."""
    positions, marked = _layout(readings.columns, marks)
    return [
        EngineView(name, series, readings, positions)
        for name, series in readings.by_engine.items()
        if _has_number(series, marked)
    ]


@lru_cache(maxsize=64)
def _layout(
    columns: tuple[Column, ...], marks: tuple[Column, ...]
) -> tuple[Mapping[Column, int], Sequence[int]]:
    """Return the positions of all columns of a row, and those of *marks*."""
    positions = {column: position for position, column in enumerate(columns)}
    return positions, [positions[each] for each in marks]


def _has_number(series: EngineSeries, marked: Sequence[int]) -> bool:
    # A loop, as a generator costs more than the first number, which is nearly always there.
    for row in series.rows:
        for position in marked:
            if not isnan(row[position]):
                return True
    return False


def _is_same(one: float, other: float) -> bool:
    return one == other or (isnan(one) and isnan(other))


def _number(value: float) -> float | None:
    return None if isnan(value) else value
