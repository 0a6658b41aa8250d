"""
The completion of commands and flags in shells, made from their declarations.

A library that makes it from a parser of argparse does not fit: flags are read here by the rules of Go's
flag package and of kubectl, which argparse does not have.
"""
