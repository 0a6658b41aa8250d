"""Run passes: after changes, at deadlines and at every resync."""
