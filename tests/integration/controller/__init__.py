"""Passes over a store that changes."""
