"""
Refused writes, logged once each and not at every try.
"""

import logging

from reporter.kube.wire.errors import Refused
from reporter.model.event_record import EventRecord


logger = logging.getLogger(__name__)


class RefusalLog:
    """
    Once for each reason, until one is created, or patched, as this; the numbers of a quota change.
    """

    def __init__(self) -> None:
        self._logged: set[tuple[str, bool, str]] = set()

    def log(self, record: EventRecord, err: Refused) -> None:
        what = record.key.reason
        refusal = (*_write_kind(record), err.missing_permission or f"HTTP {err.status}")
        if refusal not in self._logged:
            self._logged.add(refusal)
            logger.error("%s was refused: %s; it stays due and is tried again", what, err)

    def clear(self, record: EventRecord) -> None:
        self._logged = {refusal for refusal in self._logged if refusal[:2] != _write_kind(record)}


def _write_kind(record: EventRecord) -> tuple[str, bool]:
    """
    The first write of an Event creates it, and takes another right than all later ones.
    """
    return (record.key.reason, record.count > 1)
