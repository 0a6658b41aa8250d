"""
Kinds with which KEDA scales.

Each module says which fields are read.
"""
