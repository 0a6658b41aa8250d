"""The times of every story."""

from datetime import UTC, datetime, timedelta


START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
"""The start of the process of a story."""

LONG_AGO = START - timedelta(hours=24)
"""Since when all is well."""
