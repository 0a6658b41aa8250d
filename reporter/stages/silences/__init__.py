"""The silences in effect: read from objects and from the file, checked, matched with findings."""
