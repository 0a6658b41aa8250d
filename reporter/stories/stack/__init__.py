"""The healthy stack that every story starts from."""
