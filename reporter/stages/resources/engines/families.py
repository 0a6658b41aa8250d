"""
The metric families of model servers, and the columns that are kept of them.

The defaults are those of vLLM (vllm/v1/metrics/loggers.py) and its earlier names, of the HTTP server
around it (prometheus-fastapi-instrumentator) and of KAITO's wrapper.
"""

from functools import lru_cache

from msgspec import Struct

from reporter.model.metrics.columns import Column, Combine


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
    kv_cache_usage: tuple[str, ...] = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
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
        "/inference/v1/generate",
        "/invocations",
        "/pooling",
        "/rerank",
        "/score",
        "/v1/audio/transcriptions",
        "/v1/audio/translations",
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/messages",
        "/v1/rerank",
        "/v1/responses",
        "/v1/score",
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

        KAITO rejects requests by vLLM's gauge of those that wait. One that is left over and that high
        rejects all of them, and with none the gauge never changes: that is a stall.
        """
        return (self.http_requests, self.rejected)


@lru_cache(maxsize=32)
def engine_columns(families: EngineFamilies) -> EngineColumns:
    handlers = ("handler", frozenset(families.generating_handlers))
    return EngineColumns(
        running=Column(families.running, Combine.GAUGE),
        waiting=Column(families.waiting, Combine.GAUGE),
        kv_cache_usage=Column(families.kv_cache_usage, Combine.SHARE),
        # Until 0.11 the gauge has a series for each process of the server, of which all but one stand
        # still (vllm/v1/metrics/loggers.py: no multiprocess_mode; scheduler.py: "only one of the
        # front-ends"), so the highest may hide what moves.
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
