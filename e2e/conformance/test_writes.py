"""Run the conformance tests of writes on a real control plane."""

from tests.conformance.test_writes import *  # noqa: F403
