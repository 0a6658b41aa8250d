"""The variants of a fault: some in every run of the tests, the others with the slow ones."""

from collections.abc import Mapping

import pytest


def variants(given: Mapping[str, object], *always: str) -> list[object]:
    """
    Return a parameter for each variant, named by its key. All but those in *always* are slow.
    """
    assert given.keys() >= {*always}
    return [
        pytest.param(each, id=name, marks=() if name in always else pytest.mark.slow)
        for name, each in given.items()
    ]
