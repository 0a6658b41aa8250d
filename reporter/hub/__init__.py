"""
The command ``hub``: the status of many clusters, by the metrics that a pipeline brings together.

``fold`` is pure: it makes the new fleet from the fleet before, the answers of a round and the time.
"""
