"""The vocabulary of the program as values: no I/O, no clock, no decisions."""
