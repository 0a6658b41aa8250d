"""
The names of the commands that answer a question and end.

In a module of its own: the entry point needs them before it imports anything else.
"""

ASKING_COMMANDS = frozenset({"status", "wait", "explain", "check", "dump", "silence"})
"""Those about a cluster, which the kubectl plugin has too."""

PLUGIN_COMMANDS = ASKING_COMMANDS | {"version"}
PLUGIN_DEFAULT_COMMAND = "status"
"""The command of the plugin where none is named."""

AUTHORING_COMMANDS = frozenset({"test", "lint", "docs"})
"""Those about files of a catalogue."""
