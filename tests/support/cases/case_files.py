"""
The case files, parsed once in a process.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml


CASES = Path(__file__).parents[2] / "cases"

# The parser of libyaml, where PyYAML was built with it: it is ten times as fast.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def read_cases() -> Mapping[str, Mapping]:
    """
    Return each case by the name of its file. They are shared: a replay does not change its case.
    """
    return {file.stem: read_yaml(file) for file in sorted(CASES.glob("*.yaml"))}


def read_yaml(file: Path) -> Any:
    return yaml.load(file.read_text("utf-8"), Loader=_LOADER)
