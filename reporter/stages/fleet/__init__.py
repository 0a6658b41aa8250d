"""The fleet as a fold: pure, from the fleet before, the answers of a round and the time."""
