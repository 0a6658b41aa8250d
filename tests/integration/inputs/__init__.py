"""
The check of permissions.
"""
