"""The check of permissions."""
