"""
Decide which HealthEvents are created, patched and deleted, so that each episode is one object.
"""
