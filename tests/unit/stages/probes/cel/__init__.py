"""Tests of the probe for reasons in CEL."""
