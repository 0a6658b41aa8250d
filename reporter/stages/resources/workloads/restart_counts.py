"""The number of a container's restarts within some time, as far as it is known."""

from datetime import datetime, timedelta

from msgspec import Struct

from reporter.stages.snapshot.restarts import ContainerRestarts


CLOCK_TOLERANCE = timedelta(minutes=1)
"""
Time that the clock of a node may be ahead of the API server's. A later time is taken for unknown.
"""


class RestartCount(Struct, frozen=True):
    """
    The restarts within a window: no fewer than *least*, and no more than *most*.

    *span*: the time in which the *least* were.
    """

    least: int
    most: int
    span: timedelta = timedelta(0)


def count_restarts(
    restarts: ContainerRestarts,
    *,
    since: datetime,
    now: datetime,
    pod_started_at: datetime | None,
) -> RestartCount:
    """
    Count the restarts after *since*. What nobody saw was before all others, and after the pod's start.
    """
    times = [at for at in restarts.times if at <= now + CLOCK_TOLERANCE]
    inside = [at for at in times if at > since]
    unknown = len(restarts.times) - len(times)
    if len(inside) == len(times):
        if pod_started_at is not None and pod_started_at > since and restarts.unseen:
            inside = [pod_started_at] * restarts.unseen + inside
        else:
            unknown += restarts.unseen
    span = max(inside) - min(inside) if inside else timedelta(0)
    return RestartCount(len(inside), len(inside) + unknown, span)
