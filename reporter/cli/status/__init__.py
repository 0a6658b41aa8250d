"""
The commands that answer a question and end: status, wait and explain.
"""
