"""Run the conformance tests of watches on a real control plane."""

from tests.conformance.test_watches import *  # noqa: F403
