"""
The command line: which command, with which configuration, and what it prints.
"""
