"""
How long it takes from a change in the API until its Event can be read, on a real control plane.
"""
