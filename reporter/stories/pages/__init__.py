"""Metrics pages of pods, built from the short notation of a story and from recorded pages."""
