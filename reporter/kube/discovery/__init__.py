"""
Discovery of the served resources.

It answers: which kinds and versions does this cluster serve now?
"""
