"""Run the conformance tests of crds on a real control plane."""

from tests.conformance.test_crds import *  # noqa: F403
