"""
The demo: the real reporter at work on the API server in memory's example stack.

Rule 1: the reporter runs as a process of its own and reaches the API server over HTTP.
Rule 2: this package evaluates nothing; it prints what a user would read with kubectl.
"""
