"""Run the conformance tests of tables on a real control plane."""

from tests.conformance.test_tables import *  # noqa: F403
