"""
The command lines of status, wait and explain.
"""
