"""
The soak: a long run with constant changes and disturbances, whose Events are checked at the end.
"""
