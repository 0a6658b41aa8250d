"""
Log the exceptions of probes: each with its traceback, once.
"""

import logging

from reporter.stages.evaluation.probe_faults import describe_fault
from reporter.stages.probes.probe import ProbeRequest


logger = logging.getLogger("reporter")


class ProbeFaultLog:
    """
    Logs a fault when a reason meets it for the first time: a pass may meet it once per subject.
    """

    def __init__(self) -> None:
        self._logged: set[tuple[str, str]] = set()

    def log(self, request: ProbeRequest, err: Exception) -> None:
        fault = request.reason, describe_fault(err)
        if fault in self._logged:
            return
        self._logged.add(fault)
        logger.error(
            "%s of %s is Unknown: %s",
            request.reason,
            request.subject,
            describe_fault(err),
            exc_info=err,
        )
