"""Run the conformance tests of deployment writes on a real control plane."""

from tests.conformance.test_deployment_writes import *  # noqa: F403
