"""
Probes of a workload namespace's Gateway and its access rules.

They answer: do requests come in, and only those that may?
"""
