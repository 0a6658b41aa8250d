"""Write the condition of the Job, again and again until it is written or a limit is reached."""

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec import Struct

from reporter.job.watching import StopSignal
from reporter.kube.backoff import Backoff, BackoffParameters, is_no_response, pause_after
from reporter.kube.errors import Conflict, Invalid, KubeError, NotFound, Refused, Unserved
from reporter.kube.job_client import JobRecord, JobStatusClient
from reporter.model.job_results import JobCondition, JobOwner


CONFLICT_PAUSES = (0.01, 0.05, 0.25)
"""Seconds between the four tries after conflicts (client-go, util/retry, DefaultBackoff)."""


DEFAULT_BACKOFF = BackoffParameters(
    cap=timedelta(seconds=5), max_throttled_retry_after=timedelta(minutes=1)
)


class WriteDeadlines(Struct, frozen=True):
    """
    The times for which a write that fails is tried again; the first that is over ends it.

    *after_deadline*: from the deadline of the adapter. *after_stop*: from the stop signal; a pod then has
    30 s by default. *refused*: from the first of several refusals in a row, as a RoleBinding that is created
    with the Job may take effect late.
    """

    after_deadline: timedelta = timedelta(minutes=2)
    after_stop: timedelta = timedelta(seconds=25)
    refused: timedelta = timedelta(seconds=10)
    backoff: BackoffParameters = DEFAULT_BACKOFF


DEFAULT_LIMITS = WriteDeadlines()

logger = logging.getLogger(__name__)


class NotWrittenError(Exception):
    """The failure to write the condition of the Job; the text has the cause."""


@dataclass
class ConditionWriter:
    """
    Writes to one Job.

    *now*: the time for lastTransitionTime. *owner*: the Job that controls the pod; None if it is not
    known, then the Job that is read first counts as its own.
    """

    jobs: JobStatusClient
    now: Callable[[], datetime]
    owner: JobOwner | None = None
    limits: WriteDeadlines = DEFAULT_LIMITS

    async def write(self, condition: JobCondition, stop: StopSignal, *, deadline: float) -> None:
        """
        Return once the Job has the condition. Raise NotWrittenError after a final failure.

        *deadline*: of the adapter, in seconds of the event loop.
        """
        loop, refused_since = asyncio.get_running_loop(), None
        backoff = Backoff(self.limits.backoff)
        while (failure := await self._try(condition)) is not None:
            now = loop.time()
            until = self._limit(stop, deadline)
            if not isinstance(failure, Refused):
                refused_since = None
            else:
                refused_since = now if refused_since is None else refused_since
                until = min(until, refused_since + self.limits.refused.total_seconds())
            if now >= until:
                raise NotWrittenError(_explain(failure)) from failure
            backoff = backoff.with_failure(now=now, no_response=is_no_response(failure))
            asked = pause_after(backoff, failure, random.random())  # noqa: S311  jitter
            pause = min(asked.total_seconds(), until - now)
            logger.warning("cannot write yet, trying again in %.1f s: %s", pause, failure)
            await asyncio.sleep(pause)

    def _limit(self, stop: StopSignal, deadline: float) -> float:
        return min(
            deadline + self.limits.after_deadline.total_seconds(),
            stop.received_at + self.limits.after_stop.total_seconds(),
        )

    async def _try(self, condition: JobCondition) -> KubeError | None:
        """Return a failure that may pass; None once it is written."""
        try:
            for pause in CONFLICT_PAUSES:
                with suppress(Conflict):
                    await self._write_once(condition)
                    return None
                await asyncio.sleep(pause)
            await self._write_once(condition)
        except (NotFound, Unserved) as err:
            raise NotWrittenError(f"job {self.jobs} not found: {err}") from err
        except Invalid as err:
            raise NotWrittenError(str(err)) from err
        except KubeError as err:
            return err
        return None

    async def _write_once(self, condition: JobCondition) -> None:
        found = await self.jobs.read()
        self._check_owner(found)
        if found.condition(condition.type) == condition:
            logger.info("Job %s has this condition already", self.jobs)
        else:
            await self.jobs.write_condition(found, condition, at=self.now())

    def _check_owner(self, found: JobRecord) -> None:
        """Refuse a Job that was created under the name of the pod's own Job."""
        owner = self.owner
        if owner is None:
            self.owner = JobOwner(self.jobs.name, found.uid)
        elif owner.name == self.jobs.name and owner.uid != found.uid:
            raise NotWrittenError(
                f"job {self.jobs} is another one than the pod's: its uid is {found.uid}, "
                f"that of the pod's Job is {owner.uid}; nothing was written"
            )


def _explain(err: KubeError) -> str:
    permission = err.missing_permission if isinstance(err, Refused) else ""
    return f"grant the pod's service account: {permission}; {err}" if permission else str(err)
