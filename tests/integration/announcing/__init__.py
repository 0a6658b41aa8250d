"""Events written to an API server, and read back."""
