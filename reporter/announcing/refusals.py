"""The log of refused writes: each refusal once, and not at every try."""

import logging

from reporter.kube.errors import Refused
from reporter.kube.event_record import EventRecord


logger = logging.getLogger(__name__)


class RefusalLog:
    """
    Logs a refusal once per (reason, verb, cause) until such a write succeeds.

    The text of the refusal is not part of the key: the numbers in a quota's text change.
    """

    def __init__(self) -> None:
        self._logged: set[tuple[str, bool, str]] = set()

    def log(self, record: EventRecord, err: Refused) -> None:
        cause = err.missing_permission or f"HTTP {err.status}"
        refusal = (*_write_kind(record), cause)
        if refusal not in self._logged:
            self._logged.add(refusal)
            reason = record.key.reason
            logger.error("%s was refused: %s; it is tried again", reason, err)

    def clear(self, record: EventRecord) -> None:
        self._logged = {refusal for refusal in self._logged if refusal[:2] != _write_kind(record)}


def _write_kind(record: EventRecord) -> tuple[str, bool]:
    """
    The reason, and whether the write is a patch: create and patch need different permissions.
    """
    return (record.key.reason, record.count > 1)
