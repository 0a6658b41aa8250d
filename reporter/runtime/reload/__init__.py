"""Another catalogue without a restart, when the file of the overlay changes."""
