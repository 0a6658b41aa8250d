"""
Refused writes, logged once each and not at every try.
"""

import logging

from reporter.kube.errors import Refused


logger = logging.getLogger(__name__)


class Refusals:
    """
    Once for each reason, until a write of it succeeds; the numbers of a quota change.
    """

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def tell(self, what: str, err: Refused) -> None:
        refusal = (what, err.missing_right or f"HTTP {err.status}")
        if refusal not in self._told:
            self._told.add(refusal)
            logger.error("%s was refused: %s; it stays due and is tried again", what, err)

    def end(self, what: str) -> None:
        self._told = {refusal for refusal in self._told if refusal[0] != what}
