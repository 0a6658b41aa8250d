"""The rules of the roll-up, which the catalogue in effect makes, and the input of one fold."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import Struct, field

from reporter.catalogue.entries import Catalogue, CatalogueEntry, PathRow
from reporter.evaluation.finished_pass import FinishedPass
from reporter.evaluation.registry import SPECS
from reporter.model.enums import Layer, Reason, TroubleKind
from reporter.model.status_document import Package
from reporter.model.subjects import FindingKey, Subject
from reporter.probes.deployments import DeploymentsParameters


LAYER_WINDOWS: Mapping[Layer, timedelta] = {
    Layer.CLUSTER: timedelta(minutes=5),
    Layer.MODELHARNESS: timedelta(minutes=15),
    Layer.MODELDEPLOYMENT: timedelta(minutes=30),
}
"""
Time that something may be Unknown, or in progress without trouble, unless its entry has a window.
"""

ROUTE_PROBE = "route"


class RollUpRules(Struct, frozen=True):
    """
    The rules of a roll-up: the catalogue in effect, the flags, and the startup *grace*.

    Others replace them between two passes when the catalogue changes. *flags*: their texts by name, for
    components whose place they give.
    """

    catalogue: Catalogue
    flags: Mapping[str, str]
    grace: timedelta = timedelta(seconds=60)

    def entry(self, key: FindingKey) -> CatalogueEntry:
        """Return the catalogue's entry of the reason of a finding."""
        return self.catalogue[key.reason]

    def named_subject(self, namespace: str, name: str) -> Subject:
        """Return the subject of this name, in the layer that makes subjects of its kind."""
        subject = Subject(Layer.MODELDEPLOYMENT, namespace, name)
        harness = Subject(Layer.MODELHARNESS, namespace, name)
        is_harness = bool(subject.kind) and bool(
            self.catalogue.subject_definitions.find(Layer.MODELHARNESS, subject.kind)
        )
        return harness if is_harness else subject

    def reads_pages(self, key: FindingKey) -> bool:
        """Return whether the reason is evaluated from metrics pages."""
        spec = SPECS.get(self.entry(key).probe)
        return spec is not None and spec.scrape is not None

    def has_revisions(self, reason: Reason) -> bool:
        """
        Return whether Deployments of several revisions may run, of which one that works suffices.
        """
        parameters = self.catalogue[reason].parameters
        return isinstance(parameters, DeploymentsParameters) and parameters.revisions

    def rank(self, key: FindingKey) -> int:
        """
        Return the rank of the reason, the lowest first in its layer; 0 also for one without a rank.
        """
        return self.entry(key).rank or 0

    @property
    def path_rows(self) -> Mapping[Reason, tuple[PathRow, ...]]:
        """The rows of the path of requests, by the reason that hinders them."""
        entries = self.catalogue.entries.values()
        return {each.reason: each.path for each in entries if each.path}

    @property
    def evaluates_routes(self) -> bool:
        """True if a reason is about the route of an InferenceSet."""
        entries = self.catalogue.entries.values()
        return any(each.enabled for each in entries if each.probe == ROUTE_PROBE)

    @property
    def evaluates_gateways(self) -> bool:
        """True if a reason about a Gateway lies on the path of requests."""
        entries = self.catalogue.entries.values()
        return any(e.enabled and e.path and e.layer is Layer.MODELHARNESS for e in entries)

    @property
    def longest_window(self) -> timedelta:
        """The time after which whatever lasts is stalled, but for a cause with a longer hold of its own."""
        entries = [each for each in self.catalogue.entries.values() if each.enabled]
        windows = [each.window for each in entries if each.window is not None]
        return max(*LAYER_WINDOWS.values(), *windows, *map(self._starting_hold, entries))

    def finding_window(self, key: FindingKey) -> timedelta:
        """Return how long a normal start or change may take before the finding is a failure."""
        return self._starting_hold(self.entry(key))

    def _starting_hold(self, entry: CatalogueEntry) -> timedelta:
        return entry.holds.for_kind(TroubleKind.STARTING, grace=self.grace)

    def quiet_window(self, layer: Layer, key: FindingKey | None = None) -> timedelta:
        """
        Return how long something may be Unknown or in progress without trouble before it is stalled.
        """
        window = self.entry(key).window if key is not None else None
        return LAYER_WINDOWS[layer] if window is None else window


class RollUpInput(FinishedPass, frozen=True, kw_only=True):
    """
    A finished pass, with what its roll-up shows beside it.

    *episodes*: since when each key is announced. *packages*: those that status objects name, by
    namespace. *has_other_rules*: the roll-up before was made with other rules, so all is rolled up again.
    """

    episodes: Mapping[FindingKey, datetime]
    packages: Mapping[str, Package] = field(default_factory=dict)
    has_other_rules: bool = False
