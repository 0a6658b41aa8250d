"""Run the conformance tests of lists on a real control plane."""

from tests.conformance.test_lists import *  # noqa: F403
