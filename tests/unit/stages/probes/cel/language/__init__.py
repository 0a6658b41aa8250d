"""Tests of what expressions read and may cost."""
