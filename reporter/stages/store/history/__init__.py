"""
What is remembered of objects that were deleted or replaced.
"""
