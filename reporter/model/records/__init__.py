"""Records that are written to the API server and read back, as values."""
