"""Run the conformance tests of discovery on a real control plane."""

from tests.conformance.test_discovery import *  # noqa: F403
