"""Groups of flags, each a part of Settings."""
