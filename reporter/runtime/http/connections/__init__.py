"""
The connections of clients: limits of time and number, and what is logged of those closed early.
"""
