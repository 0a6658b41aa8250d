"""
The checks of an object before a write, with the real server's error texts.

They answer: why is this object refused?
"""
