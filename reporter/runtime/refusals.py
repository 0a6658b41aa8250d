"""
Refused writes, logged once each and not at every try.
"""

import logging

from reporter.kube.errors import Refused
from reporter.model.events import EventRecord


logger = logging.getLogger(__name__)


class Refusals:
    """
    Once for each reason, until one is created, or patched, as this; the numbers of a quota change.
    """

    def __init__(self) -> None:
        self._told: set[tuple[str, bool, str]] = set()

    def tell(self, record: EventRecord, err: Refused) -> None:
        what = record.key.reason
        refusal = (*_alike(record), err.missing_right or f"HTTP {err.status}")
        if refusal not in self._told:
            self._told.add(refusal)
            logger.error("%s was refused: %s; it stays due and is tried again", what, err)

    def end(self, record: EventRecord) -> None:
        self._told = {refusal for refusal in self._told if refusal[:2] != _alike(record)}


def _alike(record: EventRecord) -> tuple[str, bool]:
    """
    The first write of an Event creates it, and takes another right than all later ones.
    """
    return (record.key.reason, record.count > 1)
