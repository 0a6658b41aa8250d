"""
Faults that a test may order.

They answer: which request fails, and how?
"""
