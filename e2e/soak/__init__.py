"""
Whether all that is told over a long time, under constant change and trouble, is the truth.
"""
