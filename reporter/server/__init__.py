"""Serve metrics, health, status and the page over HTTP: who may read, and how many at once."""
