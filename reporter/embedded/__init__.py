"""
A small Kubernetes API server in memory, for the demo and for fast tests.

Rule 1: it answers over HTTP as a real API server was measured to answer; tests/conformance holds
it to that, on both servers.
Rule 2: it knows nothing of the reporter, and nothing below it knows that it exists.
"""

from reporter.embedded.server import EmbeddedServer


__all__ = ["EmbeddedServer"]
