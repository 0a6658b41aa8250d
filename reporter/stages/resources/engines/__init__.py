"""
What the recent numbers of a model server's engines mean.
"""
