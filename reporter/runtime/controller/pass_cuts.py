"""Limit on the cuts of a pass over many subjects for a change."""

MIN_BATCHES = 3
"""Batches between two cuts: some thirty milliseconds, so that each cut finds the pass advanced."""


class PassCuts:
    """
    Bound the cost of cuts, so that changes without end cannot keep a pass from its end.

    After a cut the pass goes on for at least as long as that cut took, so cuts at most double its
    time. Moments are seconds of the event loop.
    """

    _batches: int
    _resumed_at: float

    def __init__(self) -> None:
        self._cut_at: float | None = None
        self._cost = 0.0

    def resumed(self, now: float) -> None:
        """The pass runs its next batch, at first or after a cut."""
        if self._cut_at is not None:
            self._cost = now - self._cut_at
        self._batches, self._resumed_at = 0, now

    def batch_finished(self) -> None:
        self._batches += 1

    def is_allowed(self, now: float) -> bool:
        return self._batches >= MIN_BATCHES and now - self._resumed_at >= self._cost

    def cut(self, now: float) -> None:
        self._cut_at = now
