"""Find what blocks a subject, since when, and who must act."""
