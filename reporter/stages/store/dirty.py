"""The subjects whose objects have changed since they were last taken."""

from collections.abc import Callable, Iterable

from reporter.model.subjects import Subject


class DirtySubjects:
    def __init__(self) -> None:
        self._subjects: set[Subject] = set()
        self._on_change: Callable[[], None] = lambda: None

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call *on_change* after each change from now on; it must be quick."""
        self._on_change = on_change

    def mark(self, *subjects: Iterable[Subject]) -> None:
        for each in subjects:
            self._subjects.update(each)
        self._on_change()

    def take(self) -> frozenset[Subject]:
        """Return the subjects that were marked since the last call."""
        taken = frozenset(self._subjects)
        self._subjects.clear()
        return taken
