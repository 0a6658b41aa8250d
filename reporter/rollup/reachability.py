"""
The way to an InferenceSet through its Gateway: without a route there is none, however well it runs.
"""

from reporter.kinds.gateway_api import HTTP_ROUTES
from reporter.model.enums import Reason
from reporter.model.observations import Watching
from reporter.model.subjects import Subject
from reporter.resources.routes import find_routes
from reporter.rollup.rules import RollUpRules
from reporter.snapshot.snapshot import Snapshot


UNROUTED = "No HTTPRoute leads to it, so it cannot be reached through the Gateway."


class Reachability:
    """
    Tells which InferenceSets have no route, while routes are read and a reason is about them.
    """

    def __init__(self, snapshot: Snapshot, rules: RollUpRules) -> None:
        table = snapshot.tables.get(HTTP_ROUTES.table)
        reasons: frozenset[Reason] = rules.route_reasons
        self._is_read = (
            table is not None
            and isinstance(table.watch_state, Watching)
            and any(rules.catalogue[reason].enabled for reason in reasons)
        )
        self._snapshot = snapshot

    def why_not(self, subject: Subject) -> str:
        """Return why requests cannot reach an InferenceSet; empty if they may."""
        if subject.kind or not self._is_read or find_routes(self._snapshot, subject):
            return ""
        return UNROUTED
