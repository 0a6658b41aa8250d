"""Builders of silences, and of a replay with a file of them."""

from datetime import datetime

from reporter.model.silences import SilenceFile, SilenceText
from tests.support.replay import Replay


def a_silence(*reasons: str, until: datetime | str, **fields) -> SilenceText:
    """Build a silence as it is written. *fields*: namespace, inferenceset, why, by, origin."""
    text = until if isinstance(until, str) else until.strftime("%Y-%m-%dT%H:%M:%SZ")
    return SilenceText(
        fields.pop("origin", "silences.yaml:1"), reasons=reasons, until=text, **fields
    )


def silenced(replay: Replay, *silences: SilenceText) -> Replay:
    """Replace the file of silences, and run a pass."""
    replay.store.record_silence_file(SilenceFile("/silences.yaml", silences))
    return replay.run_pass()
