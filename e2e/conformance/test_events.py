"""Run the conformance tests of events on a real control plane."""

from tests.conformance.test_events import *  # noqa: F403
