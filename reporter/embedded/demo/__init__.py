"""
The demo: the real reporter at work on the embedded API server's example stack.

Rule 1: the reporter is a process of its own and is reached as in any cluster, over HTTP.
Rule 2: nothing here evaluates; it prints what a user reads with kubectl.
"""
