"""
How long to wait after a failure. Pure.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from reporter.kube.wire.errors import KubeError, Throttled, Unreachable


MAX_HONOURED_RETRY_AFTERS = 10
"""
Failures in a row until pauses grow although the server names one, as many as client-go's requests
take. While an API server that has just started reads its objects it asks for a second, many times.
"""


@dataclass(frozen=True, slots=True)
class BackoffParameters:
    """
    Pauses grow from *first* by *factor*, lengthened by up to *jitter* of it, to *longest*.

    The constants of client-go's reflector, but that *longest* and what the server asks for are
    lengthened only by up to *spread*: a right that is given back is noticed in time. Without an answer at all (*deaf*) the server pays
    nothing for being asked, so then the pauses stay short and its return is noticed soon.
    *calm*: after this long without a failure the next one counts as the first.
    *patience*: the longest Retry-After that is honoured.
    """

    initial: timedelta = timedelta(seconds=0.8)
    cap: timedelta = timedelta(seconds=30)
    no_response_cap: timedelta = timedelta(seconds=4)
    factor: float = 2.0
    jitter: float = 1.0
    cap_jitter: float = 0.1
    reset_after: timedelta = timedelta(minutes=2)
    max_retry_after: timedelta = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Backoff:
    """
    *failures* in a row; *last* and all times in seconds of the event loop.

    *deaf*: there was no answer at all the last time.
    """

    parameters: BackoffParameters = BackoffParameters()
    failures: int = 0
    last_failure: float = 0.0
    no_response: bool = False

    def with_failure(self, *, now: float, no_response: bool = False) -> "Backoff":
        """
        A server that answers again is one that has just started, and refuses much for a moment.
        """
        calm = now - self.last_failure >= self.parameters.reset_after.total_seconds()
        first = calm or (self.no_response and not no_response)
        return replace(
            self,
            failures=1 if first else self.failures + 1,
            last_failure=now,
            no_response=no_response,
        )

    def requested_pause(self, chance: float, asked: timedelta) -> timedelta:
        """
        What the server asked for, which knows better when it will have time.
        """
        return min(asked, self.parameters.max_retry_after) * (1 + chance * self.parameters.jitter)

    def pause(
        self, chance: float, *, no_response: bool = False, retry_after: timedelta | None = None
    ) -> timedelta:
        """
        How long to wait now; *chance* is in [0, 1), *at_least* what the server asked for.
        """
        growth = self.parameters
        longest = growth.no_response_cap if no_response else growth.cap
        spread = 1 + chance * growth.cap_jitter
        exponent = min(max(self.failures - 1, 0), 30)
        grown = growth.initial * growth.factor**exponent * (1 + chance * growth.jitter)
        asked = min(retry_after or timedelta(0), growth.max_retry_after)
        return max(min(grown, longest * spread), asked * spread)


def is_no_response(err: KubeError) -> bool:
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
        if backoff.failures <= MAX_HONOURED_RETRY_AFTERS:
            return backoff.requested_pause(chance, asked)
        backoff = replace(backoff, failures=backoff.failures - MAX_HONOURED_RETRY_AFTERS)
    return backoff.pause(chance, no_response=is_no_response(err), retry_after=asked)
