"""The kinds that are read: their structs, which objects are watched, and whom a change affects."""
