"""The objects that expressions read: their kinds, what is kept of them, and their subjects."""
