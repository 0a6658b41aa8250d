"""
Load and check the catalogue: its files become entries, or errors with file, line and what to do.

The entry point is ``loader.load_catalogue``. This package knows probes by their ProbeSpec alone.
"""
