"""
Kinds of Cilium.

Each module says which fields are read.
"""
