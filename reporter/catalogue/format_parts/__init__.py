"""The parts of the format of the catalogue's files."""
