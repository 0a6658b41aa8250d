"""
Pure decisions, from what is watched to what is said. No I/O, no clock, no randomness.
"""
