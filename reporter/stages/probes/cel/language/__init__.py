"""
CEL expressions: compiled, checked and bounded, and the fields that they read.

`library` is the only module that knows the library.
"""
