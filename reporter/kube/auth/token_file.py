"""
Files that hold a bearer token.
"""

from pathlib import Path


def read_token(path: Path) -> str | None:
    """
    None while it is missing, empty or half-written, as during the kubelet's swap of the volume.
    """
    try:
        text = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if text.isprintable() and text and " " not in text else None
