"""The commands as users see them: ``--help``, and the reference in docs/."""
