"""The file of silences of a story, read as the program reads it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from reporter.catalogue.silences import parse_silence_file
from reporter.model.silences import SilenceFile


def silence_file(given: Sequence[Mapping[str, Any]] | str) -> SilenceFile:
    """Return the file with these entries, or with this text."""
    text = given if isinstance(given, str) else yaml.safe_dump({"silences": given})
    return parse_silence_file(text, Path("silences.yaml"))
