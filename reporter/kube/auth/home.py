"""The home directory, which a container with a random uid does not have."""

from pathlib import Path


def home_directory() -> Path | None:
    """Return the home directory; None without HOME and without an entry in /etc/passwd."""
    try:
        return Path.home()
    except RuntimeError:
        return None
