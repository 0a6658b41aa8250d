"""
The overlay with which a case is replayed: short holds and windows, as its times are left out.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from e2e.support.cases.case_steps import Case
from reporter.catalogue.entries import CatalogueEntry
from reporter.model.enums import TroubleKind
from tests.support.cases import case_catalogue


GRACE, SCRAPE_INTERVAL = 1, 1
MAX_SHORTENED_HOLD = timedelta(minutes=10)

PARAMETER_OVERRIDES: Mapping[str, Mapping[str, Any]] = {
    "inferencesetEngineStalled": {"window-seconds": 12},
    "inferencesetKVCacheSaturated": {"window-seconds": 4},
    "inferencesetPreemptionStorm": {"window-seconds": 4, "min-requests": 1},
    "inferencesetQueueGrowing": {"window-seconds": 12},
    "inferencesetRequestErrors": {"window-seconds": 6, "min-requests": 1},
    "inferencesetMetricsUnavailable": {"window-seconds": 3},
}
"""
Parameters of reasons whose window would be longer than a step is waited for. A window in which a
case has two steps is much longer than the first of them takes, or a busy machine crosses its end.
"""

NO_CASE: Case = {}


@dataclass(frozen=True)
class ReplayDelays:
    """The hold and the settle with which a case is replayed."""

    hold: timedelta = timedelta(seconds=1)
    settle: timedelta = timedelta(seconds=1)

    @property
    def flag(self) -> str:
        return f"--settle-seconds={self.settle.seconds}"


SHORTEST = ReplayDelays()


def overlay(folder: Path, case: Case = NO_CASE, delays: ReplayDelays = SHORTEST) -> str:
    """
    Return the flag of an overlay with short holds, beside what the case's own overlay changes. The
    longest holds stay: no case replayed here waits for them.
    """
    given = case.get("overlay", {})
    entries, own = case_catalogue(case).entries, given.get("add", [])
    changes, names = given.get("reasons", {}), {each["reason"] for each in own}
    brief = _brief_of_pack if "packs" in case else _brief_of_kaito
    reasons = {
        each.reason: {**brief(each, delays), **changes.get(each.reason, {})}
        for each in entries.values()
        if each.is_evaluated and each.reason not in names
    }
    for reason in reasons.keys() & PARAMETER_OVERRIDES.keys():
        reasons[reason] |= {"parameters": PARAMETER_OVERRIDES[reason]}
    added = [
        {**each, "hold": {**each.get("hold", {}), **_brief(entries[each["reason"]], delays)}}
        for each in own
    ]
    path = folder / "brief.yaml"
    path.write_text(json.dumps({**given, "reasons": reasons, "add": added}))
    return f"--catalogue-overlay={path}"


def _brief_of_kaito(entry: CatalogueEntry, delays: ReplayDelays) -> Case:
    return {"hold": _brief(entry, delays)}


def _brief_of_pack(entry: CatalogueEntry, delays: ReplayDelays) -> Case:
    """Return a short settle too: the Ready that follows a crash loop is waited for."""
    settle = {} if entry.settle is None else {"settle": f"{delays.settle.seconds}s"}
    return {"hold": _brief(entry, delays), **settle}


def _brief(entry: CatalogueEntry, delays: ReplayDelays) -> dict[str, str]:
    holds = {kind: entry.holds.for_kind(kind, grace=delays.hold) for kind in TroubleKind}
    return {
        str(kind): f"{min(hold, delays.hold).seconds}s"
        for kind, hold in holds.items()
        if hold < MAX_SHORTENED_HOLD
    }
