"""
The commands about files of a configuration: test, lint, docs and check-config. None reads a cluster.
"""
