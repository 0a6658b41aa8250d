"""
Kinds of Istio.

Each module says which fields are read.
"""
