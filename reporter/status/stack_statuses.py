"""The desired status of each ProductionStackStatus, made from the roll-up."""

from datetime import datetime, timedelta

from reporter.kinds.productionstack import ProductionStackStatus, StatusScope
from reporter.rollup.desired import (
    RENEWAL_SPACING,
    DesiredStatus,
    ObjectMemory,
    make_desired,
)
from reporter.rollup.document import StatusView
from reporter.status.object_plan import Basis, DesiredStatuses


class StackStatuses(DesiredStatuses[ProductionStackStatus, StatusView]):
    """
    The statuses that ProductionStackStatuses are to have.

    *release_namespace*: the only one whose objects may ask about the cluster. *resync*: the longest time
    between two evaluations.
    """

    spacing = RENEWAL_SPACING

    def __init__(self, release_namespace: str, *, resync: timedelta) -> None:
        self._release_namespace, self.stands = release_namespace, resync

    def revision(self, view: StatusView) -> object:
        """Return the revision of the roll-up with when it was evaluated, which notifies nobody."""
        return view.rollup.revision, view.rollup.evaluated_at

    def basis(
        self, found: ProductionStackStatus, view: StatusView, *, now: datetime
    ) -> Basis | None:
        """
        Return the revision of what the object is about, what cannot be listed and why, and missing permissions.

        None before the first pass: a status of an earlier process is still the best known.
        """
        rollup = view.rollup
        if not rollup.revision:
            return None
        record, number = rollup.namespaces.get(found.metadata.namespace), rollup.revision
        if record is not None and found.spec.scope is StatusScope.NAMESPACE:
            number = record.revision
        revision = number, rollup.evaluation.known_subjects.unknown, rollup.missing_rights
        return Basis(revision, rollup.evaluated_at)

    def make(
        self,
        found: ProductionStackStatus,
        view: StatusView,
        memory: ObjectMemory | None,
        *,
        now: datetime,
    ) -> DesiredStatus:
        """Return the status from the roll-up; none while the object cannot be judged yet."""
        return make_desired(found, view, self._release_namespace, memory, now=now)
