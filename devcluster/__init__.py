"""
A small Kubernetes API server in memory, for the demo and for fast tests.

Rule 1: it answers over HTTP as a real API server does; tests/conformance runs the same tests on both.
Rule 2: outside of demo/ it knows nothing of the reporter but its clock, and the reporter does not know it.
Rule 3: wheels and images leave it out.
"""

from devcluster.server import DevCluster


__all__ = ["DevCluster"]
