"""
Kinds of KAITO.

Each module says which fields are read.
"""
