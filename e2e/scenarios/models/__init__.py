"""Models from their first installation to their end."""
