"""The command line: commands, their configuration and their output."""
