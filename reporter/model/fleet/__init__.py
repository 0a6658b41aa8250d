"""
The fleet: many clusters, each known by the series that its reporter writes and a pipeline carries.
"""
