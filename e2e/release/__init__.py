"""
The steps of a release, run here: what the workflow pushes goes to a registry on this machine.
"""
