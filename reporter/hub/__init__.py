"""
The command ``hub``: the status of many clusters, by the metrics that a pipeline brings together.
"""
