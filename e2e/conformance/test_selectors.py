"""Run the conformance tests of selectors on a real control plane."""

from tests.conformance.test_selectors import *  # noqa: F403
