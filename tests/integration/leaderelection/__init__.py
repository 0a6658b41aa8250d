"""The Lease and its owner."""
