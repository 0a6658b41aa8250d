"""Run the conformance tests of access on a real control plane."""

from tests.conformance.test_access import *  # noqa: F403
