"""
Kinds of Karpenter.

Each module says which fields are read.
"""
