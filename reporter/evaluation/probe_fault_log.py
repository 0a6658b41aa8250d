"""Log the exceptions of probes: each with its traceback, once."""

import logging

from reporter.evaluation.probe_run import describe_fault
from reporter.probes.probe import ProbeRequest


logger = logging.getLogger("reporter")


class ProbeFaultLog:
    """
    Logs a fault when a reason meets it for the first time: a pass may meet it once per subject.
    """

    def __init__(self) -> None:
        self._logged: set[tuple[str, str]] = set()

    def log(self, request: ProbeRequest, err: Exception) -> None:
        """
        Log the exception of a probe with its traceback, unless the reason had the same one before.
        """
        reason, why = request.reason, describe_fault(err)
        if (reason, why) in self._logged:
            return
        self._logged.add((reason, why))
        logger.error("%s of %s is Unknown: %s", reason, request.subject, why, exc_info=err)
