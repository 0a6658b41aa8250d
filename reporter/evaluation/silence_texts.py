"""
Show the silences: on the status page, and in the log when one begins, ends or is not in effect.
"""

import logging
from collections.abc import Iterable
from typing import Any

from reporter.evaluation.finished_pass import FinishedPass
from reporter.model.silences import Silence, SilenceFile, SilenceState
from reporter.model.times import format_time
from reporter.process.log_format import one_line


logger = logging.getLogger("reporter.silences")


def silence_json(silence: Silence) -> dict[str, Any]:
    """
    Return a silence as /status shows it: its scope, reasons, state, end, author, why and problem.
    """
    return {
        "scope": silence.scope,
        "reasons": silence.reason_text,
        "state": silence.state,
        "until": until_text(silence),
        "by": silence.by,
        "why": silence.why,
        "origin": silence.origin,
        "problem": silence.problem,
    }


def silence_file_json(file: SilenceFile) -> dict[str, Any] | None:
    """Return the state of the file; None if no file is configured."""
    if not file.path:
        return None
    missing = "" if file.exists else "does not exist, so it silences nothing"
    return {"path": file.path, "problem": file.problem or missing}


def until_text(silence: Silence) -> str | None:
    """Return the end of a silence in the API's notation of time; None if it has no end."""
    return format_time(silence.until) if silence.until is not None else None


class SilenceLog:
    """Logs each silence once for each state that it is in."""

    def __init__(self) -> None:
        self._logged: frozenset[Silence] = frozenset()

    def follow(self, finished: FinishedPass) -> Iterable[None]:
        """
        Log the silences that are new, changed or removed since the pass before.

        One that is not in effect is a warning, with its problem.
        """
        now = frozenset(finished.evaluation.silences.all)
        for each in sorted(now - self._logged, key=lambda silence: silence.origin):
            _log(each)
        places = {each.origin for each in now}
        for each in sorted(self._logged - now, key=lambda silence: silence.origin):
            if each.origin not in places:
                logger.info("silence of %s (%s): removed", each.scope, each.origin)
        self._logged = now
        return ()


def _log(silence: Silence) -> None:
    where = f"silence of {silence.scope} ({silence.origin})"
    if silence.state is not SilenceState.ACTIVE:
        logger.warning(
            "%s silences nothing, %s: %s",
            one_line(where),
            silence.state,
            one_line(silence.problem),
        )
        return
    by = f" by {silence.by}" if silence.by else ""
    why = f": {silence.why}" if silence.why else ""
    text = f"{silence.reason_text} until {until_text(silence)}{by}{why}"
    logger.info("%s: %s", one_line(where), one_line(text))
