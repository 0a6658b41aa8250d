"""
Write the condition of the Job, again and again until it is written or a limit is reached.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from reporter.job.stop import StopSignal
from reporter.kube.objects.job_status import JobRecord, JobStatusClient
from reporter.kube.wire.backoff import Backoff, BackoffParameters, is_no_response, pause_after
from reporter.kube.wire.errors import Conflict, Invalid, KubeError, NotFound, Refused, Unserved
from reporter.model.job_results import JobCondition, JobOwner


CONFLICT_PAUSES = (0.01, 0.05, 0.25)
"""
Seconds between the four tries after conflicts (client-go, util/retry, DefaultBackoff).
"""

WRITE_LIMIT = timedelta(minutes=2)
"""
How long after the deadline of the adapter a write is still tried.
"""

STOP_LIMIT = timedelta(seconds=25)
"""
How long after a stop signal; a pod has 30 s by default.
"""

REFUSED_LIMIT = timedelta(seconds=10)
"""
How long a refusal is tried again: a RoleBinding that is created with the Job may take effect late.
"""

BACKOFF = BackoffParameters(cap=timedelta(seconds=5), max_throttled_retry_after=timedelta(minutes=1))

logger = logging.getLogger(__name__)


class NotWrittenError(Exception):
    """
    The condition was not written, and the text says why.
    """


@dataclass
class ConditionWriter:
    """
    *now*: the time for lastTransitionTime. *owner*: the Job that controls the pod, if known.
    """

    jobs: JobStatusClient
    now: Callable[[], datetime]
    owner: JobOwner | None = None

    async def write(self, condition: JobCondition, stop: StopSignal, *, until: float) -> None:
        """
        Return once the Job has the condition. Raise NotWrittenError after a final failure.

        *until*: the moment, in seconds of the event loop, at which to give up.
        """
        loop = asyncio.get_running_loop()
        backoff, refused_since = Backoff(BACKOFF), None
        while True:
            try:
                return await self._try(condition)
            except (NotFound, Unserved) as err:
                raise NotWrittenError(f"job {self.jobs} not found: {err}") from err
            except Invalid as err:
                raise NotWrittenError(str(err)) from err
            except KubeError as err:
                failure = err
            now = loop.time()
            refused_since = (refused_since or now) if isinstance(failure, Refused) else None
            if refused_since is not None and now - refused_since > REFUSED_LIMIT.total_seconds():
                raise NotWrittenError(_explain_refusal(failure)) from failure
            backoff = backoff.with_failure(now=now, no_response=is_no_response(failure))
            pause = pause_after(backoff, failure, random.random()).total_seconds()  # noqa: S311
            limit = min(until, stop.received_at + STOP_LIMIT.total_seconds())
            if now + pause > limit:
                raise NotWrittenError(f"gave up: {failure}") from failure
            logger.warning("cannot write yet, trying again in %.1f s: %s", pause, failure)
            await asyncio.sleep(pause)

    async def _try(self, condition: JobCondition) -> None:
        for pause in (*CONFLICT_PAUSES, None):
            found = await self.jobs.read()
            self._check_owner(found)
            if found.condition(condition.type) == condition:
                logger.info("Job %s has this condition already", self.jobs)
                return
            try:
                await self.jobs.write_condition(found, condition, at=self.now())
            except Conflict:
                if pause is None:
                    raise
                await asyncio.sleep(pause)
            else:
                return

    def _check_owner(self, found: JobRecord) -> None:
        """
        Refuse a Job that was created under the name of the pod's own Job.
        """
        owner = self.owner
        if owner is not None and owner.name == self.jobs.name and owner.uid != found.uid:
            raise NotWrittenError(
                f"job {self.jobs} is another one than the pod's: its uid is {found.uid}, "
                f"the pod belongs to {owner.uid}; nothing was written"
            )


def _explain_refusal(err: KubeError) -> str:
    permission = err.missing_permission if isinstance(err, Refused) else ""
    advice = f"grant the pod's service account: {permission}; " if permission else ""
    return f"{advice}{err}"
