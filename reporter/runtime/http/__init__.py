"""Serve metrics, health and status over HTTP."""
