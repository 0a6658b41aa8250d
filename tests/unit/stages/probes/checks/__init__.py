"""Tests of the probe for check Jobs."""
