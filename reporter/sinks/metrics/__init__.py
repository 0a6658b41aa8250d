"""
The metrics page: what it declares, how the values are collected, and the page itself.
"""

from reporter.sinks.metrics.collectors import PermissionReport, WatchReport
from reporter.sinks.metrics.page import Metrics


__all__ = ["Metrics", "PermissionReport", "WatchReport"]
