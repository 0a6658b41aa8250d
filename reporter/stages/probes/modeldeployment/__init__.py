"""
Probes of one InferenceSet, from its nodes to its route.

They answer: does this model serve?
"""
