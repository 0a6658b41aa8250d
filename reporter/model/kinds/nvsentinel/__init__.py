"""Kinds of NVSentinel, which the reporter writes only if a flag says so."""
