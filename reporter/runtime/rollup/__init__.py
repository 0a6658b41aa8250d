"""Keep the roll-up of the last pass, for those who show it."""
