"""The metrics page as a text, as Prometheus reads it without an Accept header."""

from reporter.metrics.process import ProcessMetrics


def metrics_text(metrics: ProcessMetrics) -> str:
    return metrics.expose("").encode().decode()
