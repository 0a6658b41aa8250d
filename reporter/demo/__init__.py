"""
The demo: the real reporter at work on the embedded API server's example stack.

Rule 1: the reporter is a process of its own and is reached as in any cluster, over HTTP.
Rule 2: nothing here judges; what is printed is what a user reads with kubectl.
"""

from reporter.demo.command import run


__all__ = ["run"]
