"""Keep the notes of verdicts: advice to the operator that is no trouble."""

from collections.abc import Iterable, Mapping

from reporter.model.subjects import FindingKey
from reporter.model.verdicts import Active, Clear, Verdict


def update_notes(
    before: Mapping[FindingKey, tuple[str, ...]], verdicts: Iterable[Verdict]
) -> Mapping[FindingKey, tuple[str, ...]]:
    # Most verdicts have no notes, and replace none.
    found = {
        verdict.key: verdict.notes
        for verdict in verdicts
        if isinstance(verdict, (Active, Clear)) and (verdict.notes or verdict.key in before)
    }
    if not found:
        return before
    return {key: notes for key, notes in {**before, **found}.items() if notes}
