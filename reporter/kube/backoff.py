"""
How long to wait after a failure. Pure.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from reporter.kube.errors import KubeError, Throttled, Unreachable


OBEDIENT = 10
"""
Failures in a row until pauses grow although the server names one, as many as client-go's requests
take. While an API server that has just started reads its objects it asks for a second, many times.
"""


@dataclass(frozen=True, slots=True)
class Growth:
    """
    Pauses grow from *first* by *factor*, lengthened by up to *jitter* of it, to *longest*.

    The constants of client-go's reflector, but that *longest* and what the server asks for are
    lengthened only by up to *spread*: a right that is given back is noticed in time. Without an answer at all (*deaf*) the server pays
    nothing for being asked, so then the pauses stay short and its return is noticed soon.
    *calm*: after this long without a failure the next one counts as the first.
    *patience*: the longest Retry-After that is honoured.
    """

    first: timedelta = timedelta(seconds=0.8)
    longest: timedelta = timedelta(seconds=30)
    deaf: timedelta = timedelta(seconds=4)
    factor: float = 2.0
    jitter: float = 1.0
    spread: float = 0.1
    calm: timedelta = timedelta(minutes=2)
    patience: timedelta = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Backoff:
    """
    *failures* in a row; *last* and all times in seconds of the event loop.

    *deaf*: there was no answer at all the last time.
    """

    growth: Growth = Growth()
    failures: int = 0
    last: float = 0.0
    deaf: bool = False

    def failed(self, *, now: float, deaf: bool = False) -> "Backoff":
        """
        A server that answers again is one that has just started, and refuses much for a moment.
        """
        calm = now - self.last >= self.growth.calm.total_seconds()
        first = calm or (self.deaf and not deaf)
        return replace(self, failures=1 if first else self.failures + 1, last=now, deaf=deaf)

    def as_asked(self, chance: float, asked: timedelta) -> timedelta:
        """
        What the server asked for, which knows better when it will have time.
        """
        return min(asked, self.growth.patience) * (1 + chance * self.growth.jitter)

    def pause(
        self, chance: float, *, deaf: bool = False, at_least: timedelta | None = None
    ) -> timedelta:
        """
        How long to wait now; *chance* is in [0, 1), *at_least* what the server asked for.
        """
        growth = self.growth
        longest = growth.deaf if deaf else growth.longest
        spread = 1 + chance * growth.spread
        exponent = min(max(self.failures - 1, 0), 30)
        grown = growth.first * growth.factor**exponent * (1 + chance * growth.jitter)
        asked = min(at_least or timedelta(0), growth.patience)
        return max(min(grown, longest * spread), asked * spread)


def is_deaf(err: KubeError) -> bool:
    """
    Whether there was no answer at all.
    """
    return isinstance(err, Unreachable) and not err.status


def pause_after(backoff: Backoff, err: KubeError, chance: float) -> timedelta:
    """
    How long to wait after this failure, which *backoff* has counted already.
    """
    asked = err.retry_after if isinstance(err, Throttled | Unreachable) else None
    if isinstance(err, Throttled) and asked:
        if backoff.failures <= OBEDIENT:
            return backoff.as_asked(chance, asked)
        backoff = replace(backoff, failures=backoff.failures - OBEDIENT)
    return backoff.pause(chance, deaf=is_deaf(err), at_least=asked)
