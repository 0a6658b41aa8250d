"""Compute how long to wait after a failure, honouring Retry-After. Pure."""

from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from reporter.kube.errors import KubeError, Throttled, Unreachable


MAX_HONOURED_RETRY_AFTERS = 10
"""
Throttled responses in a row whose Retry-After alone decides the pause; after these the pause grows.

client-go's requests are retried as often (rest/request.go, maxRetries). An API server that has just
started sends many with a Retry-After of one second until its watch cache is filled.
"""


class BackoffParameters(Struct, frozen=True):
    """
    Pauses grow from *initial* by *factor* up to *cap*; *jitter* adds up to its share of the pause.

    The values are those of client-go's reflector (tools/cache/reflector.go), with two differences.
    *cap_jitter*, which is lower, applies to *cap*, so that a permission that is granted again is noticed
    in time, and to a Retry-After that is the least pause. *jitter* applies to a Retry-After that alone
    decides the pause, as for the first 429s in a row: many clients got the same one at once.
    *no_response_cap* applies while there is no response at all: retries cost such a server nothing, and
    its return is noticed soon.
    *reset_after*: after this long without a failure the next one counts as the first.
    *max_retry_after*: a longer Retry-After is cut to this; *max_throttled_retry_after*: that of a
    429, which lists and watches honour for longer, as they are what overloads a server.
    """

    initial: timedelta = timedelta(seconds=0.8)
    cap: timedelta = timedelta(seconds=30)
    no_response_cap: timedelta = timedelta(seconds=4)
    factor: float = 2.0
    jitter: float = 1.0
    cap_jitter: float = 0.1
    reset_after: timedelta = timedelta(minutes=2)
    max_retry_after: timedelta = timedelta(minutes=1)
    max_throttled_retry_after: timedelta = timedelta(minutes=5)


class Backoff(Struct, frozen=True):
    """
    The failures in a row of one client. Times are in seconds of the event loop.

    *no_response*: the last request got no response at all.
    """

    parameters: BackoffParameters = BackoffParameters()
    failures: int = 0
    last_failure: float = 0.0
    no_response: bool = False

    def with_failure(self, *, now: float, no_response: bool = False) -> "Backoff":
        """
        Return the backoff with one more failure.

        The first response after none counts as the first failure: a server that has just started
        refuses many requests for a moment.
        """
        has_recovered = now - self.last_failure >= self.parameters.reset_after.total_seconds()
        is_first = has_recovered or (self.no_response and not no_response)
        return replace(
            self,
            failures=1 if is_first else self.failures + 1,
            last_failure=now,
            no_response=no_response,
        )

    def requested_pause(self, random: float, retry_after: timedelta) -> timedelta:
        """Return the Retry-After of a 429 with jitter, but max_throttled_retry_after at the most."""
        parameters = self.parameters
        longest = parameters.max_throttled_retry_after
        return min(retry_after * (1 + random * parameters.jitter), longest)

    def pause(
        self, random: float, *, no_response: bool = False, at_least: timedelta = timedelta(0)
    ) -> timedelta:
        """
        Return how long to wait after *failures* in a row: growing up to a cap, and at least *at_least*.

        *no_response* takes the lower cap. *random* is in [0, 1).
        """
        parameters = self.parameters
        cap = parameters.no_response_cap if no_response else parameters.cap
        cap_jitter = 1 + random * parameters.cap_jitter
        exponent = min(max(self.failures - 1, 0), 30)
        grown = parameters.initial * parameters.factor**exponent * (1 + random * parameters.jitter)
        return max(min(grown, cap * cap_jitter), at_least)


def is_no_response(err: KubeError) -> bool:
    """
    Return whether no whole response came: the server is down, out of reach or too slow, or broke it off.
    """
    return isinstance(err, Unreachable) and not err.status


def pause_after(backoff: Backoff, err: KubeError, random: float) -> timedelta:
    """
    Return how long to wait after this failure, which *backoff* has counted already.

    The Retry-After of a 429 decides the pause for the first failures in a row, and is the least
    pause later. The Retry-After of a 5xx is always the least pause.
    """
    parameters, asked = backoff.parameters, err.retry_after or timedelta(0)
    longest = parameters.max_retry_after
    if isinstance(err, Throttled):
        longest = parameters.max_throttled_retry_after
        if asked and backoff.failures <= MAX_HONOURED_RETRY_AFTERS:
            return backoff.requested_pause(random, asked)
        if asked:
            backoff = replace(backoff, failures=backoff.failures - MAX_HONOURED_RETRY_AFTERS)
    at_least = min(asked * (1 + random * parameters.cap_jitter), longest)
    return backoff.pause(random, no_response=is_no_response(err), at_least=at_least)


def least_pause_after(backoff: Backoff, err: KubeError, random: float) -> timedelta:
    """
    Return the least pause, which holds even if other requests succeed meanwhile.

    It is a first pause, or the Retry-After if that is longer. *random* is in [0, 1).
    """
    parameters = backoff.parameters
    asked = err.retry_after or timedelta(0)
    return max(parameters.initial * (1 + random * parameters.jitter), asked)
