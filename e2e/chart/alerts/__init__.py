"""Evaluate the chart's alerts with promtool against metrics pages of the real program."""
