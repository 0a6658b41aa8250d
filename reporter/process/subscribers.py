"""The functions that others want to be called when something happens here."""

from collections.abc import Callable
from typing import Generic, ParamSpec


P = ParamSpec("P")


class Subscribers(Generic[P]):
    """The functions to call, in the order in which they were added."""

    def __init__(self) -> None:
        self._functions: list[Callable[P, None]] = []

    def subscribe(self, function: Callable[P, None]) -> None:
        """Call *function* as well, each time from now on; it must be quick."""
        self._functions.append(function)

    def notify(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call all functions; called by the owner alone."""
        for each in self._functions:
            each(*args, **kwargs)
