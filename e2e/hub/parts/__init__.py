"""
The parts of a fleet: clusters, agents, engines, the hub, and pages and answers that are wrong.
"""
