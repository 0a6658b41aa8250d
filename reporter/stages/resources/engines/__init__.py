"""The meaning of the recent numbers of a model server's engines."""
