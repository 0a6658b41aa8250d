"""
The metric families of model servers, and the columns that are kept of them.

The defaults are those of vLLM (vllm/v1/metrics/loggers.py) and its earlier names, of the HTTP server
around it (prometheus-fastapi-instrumentator) and of KAITO's wrapper.
"""

from dataclasses import dataclass
from functools import lru_cache

from msgspec import Struct

from reporter.model.metrics.columns import Column, Combine


class EngineFamilies(
    Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", cache_hash=True
):
    """
    Names of metric families; of alternatives the first that is on the page counts.

    Of a histogram the number of observed values is read. *ignored_handlers*: values of the label
    ``handler`` whose requests ask nothing of the model. *traffic*: counters of requests, each read
    on its own.
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
    ignored_handlers: tuple[str, ...] = (
        "/health",
        "/is_sleeping",
        "/load",
        "/metrics",
        "/ping",
        "/v1/models",
        "/v1/models/{model_id}",
        "/version",
        "none",
    )


@dataclass(frozen=True, slots=True)
class EngineColumns:
    """
    The columns of all families; each probe asks for those that it reads.
    """

    running: Column
    waiting: Column
    kv_cache_usage: Column
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
    def progress(self) -> tuple[Column, ...]:
        """
        The counters of which at least one moves while an engine works on a request.
        """
        return (self.steps, self.prompt_tokens, self.generation_tokens, self.finished)

    @property
    def traffic(self) -> tuple[Column, ...]:
        """
        The counters that move with new requests whatever the engine does.
        """
        return (self.http_requests, self.rejected)


@lru_cache(maxsize=32)
def engine_columns(families: EngineFamilies) -> EngineColumns:
    handlers = ("handler", frozenset(families.ignored_handlers))
    return EngineColumns(
        running=Column(families.running, Combine.GAUGE),
        waiting=Column(families.waiting, Combine.GAUGE),
        kv_cache_usage=Column(families.kv_cache_usage, Combine.SHARE),
        awake=Column(families.sleep_state, Combine.SHARE, only=("sleep_state", "awake")),
        steps=Column(families.steps, Combine.COUNTER),
        prompt_tokens=Column(families.prompt_tokens, Combine.COUNTER),
        generation_tokens=Column(families.generation_tokens, Combine.COUNTER),
        finished=Column(families.finished, Combine.COUNTER),
        failed=Column(families.finished, Combine.COUNTER, only=("finished_reason", "error")),
        preemptions=Column(families.preemptions, Combine.COUNTER),
        corrupted=Column(families.corrupted, Combine.COUNTER),
        http_requests=Column(families.http_requests, Combine.COUNTER, ignored=handlers),
        http_errors=Column(
            families.http_requests, Combine.COUNTER, only=("status", "5"), ignored=handlers
        ),
        rejected=Column(families.rejected, Combine.COUNTER),
    )
