"""Render the generated tables of the documents from what the program declares."""
