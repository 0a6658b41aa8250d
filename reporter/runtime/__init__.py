"""
The loops: each a few lines around a tested step.
"""
