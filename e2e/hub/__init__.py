"""The hub on real parts: two clusters, an agent in each, one engine, and faults of all of them."""
