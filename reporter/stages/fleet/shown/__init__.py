"""Documents, objects and texts that show the fleet."""
