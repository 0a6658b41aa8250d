"""Parameters of which every change tries some, and ``pytest -m ""`` all."""

from collections.abc import Iterable

import pytest


def one_in(number: int, values: Iterable[object]) -> list[object]:
    """
    Return the values, all but the first of each *number* marked as slow; a tuple is several arguments.
    """
    return [
        value if place % number == 0 else _slow(*(value if isinstance(value, tuple) else (value,)))
        for place, value in enumerate(values)
    ]


def _slow(*arguments: object) -> object:
    return pytest.param(*arguments, marks=pytest.mark.slow)
