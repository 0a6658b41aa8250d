"""Render the status for people: tables as those of kubectl, and details of one subject."""
