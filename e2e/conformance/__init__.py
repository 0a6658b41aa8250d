"""Run the tests of tests/conformance on a real control plane."""
