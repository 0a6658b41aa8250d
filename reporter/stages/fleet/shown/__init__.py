"""
What is shown of the fleet: documents, objects and texts.
"""
