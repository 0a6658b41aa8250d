"""
Stories: what happens to a cluster, and what the program announces about it.

A story tests whether a catalogue announces what its author expects. It is replayed on the decisions of
the program, without a cluster and without waiting.
"""
