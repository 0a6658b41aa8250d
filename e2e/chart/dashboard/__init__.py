"""
Check the Grafana dashboard: its form, and its queries in a real Prometheus with the pages of a replay.
"""
