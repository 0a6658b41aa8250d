"""
Kinds of the Gateway API and its inference extension.

Each module says which fields are read.
"""
