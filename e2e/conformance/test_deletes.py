"""Run the conformance tests of deletes on a real control plane."""

from tests.conformance.test_deletes import *  # noqa: F403
