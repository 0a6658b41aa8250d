"""Metrics pages as model pods serve them while they load a model and afterwards."""

from collections.abc import Iterable, Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)


SPEED = "kaito_model_download_speed_bytes_per_second"
REMAINING = "kaito_model_download_remaining_seconds"
UNKNOWN = -1.0
"""The remaining seconds before the first byte, while nothing arrives, and of an unknown size."""

_GAUGES = (
    "num_requests_running",
    "num_requests_waiting",
    "kv_cache_usage_perc",
    "lora_requests_info",
)
_COUNTERS = (
    "num_preemptions",
    "prompt_tokens",
    "generation_tokens",
    "prefix_cache_queries",
    "prefix_cache_hits",
)
_HISTOGRAMS = (
    "iteration_tokens_total",
    "time_to_first_token_seconds",
    "inter_token_latency_seconds",
    "e2e_request_latency_seconds",
    "request_queue_time_seconds",
    "request_prefill_time_seconds",
    "request_decode_time_seconds",
)


def pre_download(speed: float = 0.0, remaining: float = UNKNOWN) -> bytes:
    """The page of the small server that uses vLLM's port until vLLM itself starts."""
    registry = CollectorRegistry()
    _download(registry, speed, remaining)
    return generate_latest(registry)


_BUCKETS = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5),
    *(10, 20, 40, 80, 160, 640, 2560),
)


def vllm(*, engines: int = 2) -> bytes:
    """
    A page as large as vLLM's: 16 histograms with 22 buckets for each engine, some 90 KiB with two.
    """
    histograms = (*_HISTOGRAMS, *(f"request_histogram_{number}" for number in range(9)))
    return _engine_page(
        "microsoft/phi-4-mini-instruct", engines=engines, histograms=histograms, buckets=_BUCKETS
    )


def engine(model: str = "qwen", *, engines: int = 1) -> bytes:
    """The page of vLLM, on which the gauges of the download are still present and zero."""
    return _engine_page(model, engines=engines, histograms=_HISTOGRAMS)


def _engine_page(
    model: str,
    *,
    engines: int,
    histograms: Iterable[str],
    buckets: Sequence[float] = Histogram.DEFAULT_BUCKETS,
) -> bytes:
    registry = CollectorRegistry()
    labels = ("model_name", "engine")
    series = [(model, str(number)) for number in range(engines)]
    for name in _GAUGES:
        gauge = Gauge(f"vllm:{name}", f"Of the engine: {name}.", labels, registry=registry)
        for each in series:
            gauge.labels(*each).set(0.31)
    for name in _COUNTERS:
        counter = Counter(f"vllm:{name}", f"Number of {name}.", labels, registry=registry)
        for each in series:
            counter.labels(*each).inc(48211)
    for name in histograms:
        histogram = Histogram(
            f"vllm:{name}", f"Of requests: {name}.", labels, buckets=buckets, registry=registry
        )
        for each in series:
            histogram.labels(*each).observe(0.2)
    _requests(registry)
    _download(registry, 0.0, 0.0)
    return generate_latest(registry)


def _requests(registry: CollectorRegistry) -> None:
    labels = ("handler", "method", "status")
    requests = Counter("http_requests", "Number of requests.", labels, registry=registry)
    for handler in ("/v1/chat/completions", "/v1/models/{model_id}", "/metrics"):
        requests.labels(handler, "GET", "2xx").inc()


def _download(registry: CollectorRegistry, speed: float, remaining: float) -> None:
    text = "Current model download speed in bytes per second"
    Gauge(SPEED, text, registry=registry).set(speed)
    text = "Estimated remaining time for model download in seconds; -1 when unknown"
    Gauge(REMAINING, text, registry=registry).set(remaining)
