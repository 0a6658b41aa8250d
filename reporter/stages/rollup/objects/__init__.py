"""
What is written to ProductionStackStatuses: pure, from an object and the roll-up to its status.
"""
