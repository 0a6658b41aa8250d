"""Read files that hold a bearer token."""

from pathlib import Path


def read_token(path: Path) -> str | None:
    """
    Return the token; None while the file is missing, empty or incomplete.

    The kubelet replaces the files of a projected volume while we may be reading.
    """
    try:
        text = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if text.isprintable() and text and " " not in text else None
