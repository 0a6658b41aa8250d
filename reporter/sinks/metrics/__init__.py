"""The metrics page: what it declares, how the values are collected, and the page itself."""

from reporter.sinks.metrics.collectors import PermissionReport, WatchReport
from reporter.sinks.metrics.page import Metrics
from reporter.sinks.metrics.process import Exposition


__all__ = ["Exposition", "Metrics", "PermissionReport", "WatchReport"]
