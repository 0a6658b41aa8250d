"""
Kinds of the batch API group.

Each module says which fields are read.
"""
