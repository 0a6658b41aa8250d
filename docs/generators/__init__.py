"""Render what is generated of the documents and beside them, from what the program declares."""
