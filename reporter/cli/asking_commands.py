"""
The names of the commands that answer a question and end.

In a module of its own: the entry point needs them before it imports anything else.
"""

ASKING_COMMANDS = frozenset({"status", "wait", "explain"})
