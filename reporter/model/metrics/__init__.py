"""Metrics read from pods, as values."""
