"""Run the conformance tests of refusals on a real control plane."""

from tests.conformance.test_refusals import *  # noqa: F403
