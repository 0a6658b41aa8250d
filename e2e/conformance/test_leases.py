"""Run the conformance tests of leases on a real control plane."""

from tests.conformance.test_leases import *  # noqa: F403
