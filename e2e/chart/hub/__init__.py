"""The hub in the chart, with its alerts, and the configuration of what sends to it."""
