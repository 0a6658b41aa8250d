"""Events: their names, their encoding as core/v1, and the requests."""
