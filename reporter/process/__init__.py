"""The process: its clock, signals, log lines and memory, and how it ends."""
