"""The objects as they truly are, and the watchers of their changes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.observations import DiscoveryResult
from reporter.stories.format import apply_merge_patch, resolve_times
from reporter.stories.objects import ObjectAddress, StoryObjects
from tests.simulation.troubles import CRDS, HEALTHY, TROUBLES
from tests.support.builders import LONG_AGO
from tests.support.virtual_clock import VirtualClock


Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ObjectUpdate:
    """One change of an object. *new* is None for a deletion."""

    kind: ResourceKind
    name: Name
    new: ApiObject | None
    at: float


@dataclass
class SimulatedCluster:
    """
    The cluster. The description of each trouble is merged over that of the healthy cluster, also where
    an earlier one deleted the object: it is made anew.

    *changes*: what each trouble of now describes, with the time at which it began.
    """

    clock: VirtualClock
    troubles: list[str] = field(default_factory=list)
    objects: dict[ResourceKind, dict[Name, ApiObject]] = field(
        default_factory=lambda: {kind: {} for kind in DEFAULT_KINDS}
    )
    object_watchers: list[Callable[[Iterable[ObjectUpdate]], None]] = field(default_factory=list)
    discovery_watchers: list[Callable[[], None]] = field(default_factory=list)
    case_objects: StoryObjects = field(default_factory=StoryObjects)
    descriptions: dict[str, Mapping | None] = field(default_factory=dict)
    changes: dict[str, Mapping] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._update_objects(HEALTHY, now=LONG_AGO)

    @property
    def served(self) -> Mapping[str, tuple[str, ...]]:
        removed = {crd for name in self.troubles for crd in TROUBLES[name].crds}
        return {crd: tuple(v) for crd, v in CRDS.items() if v and crd not in removed}

    @property
    def discovery(self) -> DiscoveryResult:
        return DiscoveryResult(self.served)

    def serves(self, kind: ResourceKind) -> bool:
        return kind.group_resource not in CRDS or kind.group_resource in self.served

    def begin(self, name: str) -> None:
        if name not in self.troubles:
            self.changes[name] = resolve_times(TROUBLES[name].change, now=self.clock.wall_time)
            self._set_troubles([*self.troubles, name])

    def end(self, name: str) -> None:
        if name in self.troubles:
            self._set_troubles([each for each in self.troubles if each != name])

    def _set_troubles(self, troubles: list[str]) -> None:
        served, self.troubles = self.served, troubles
        descriptions: dict[str, Mapping | None] = dict(HEALTHY)
        for name in troubles:
            for address, change in self.changes[name].items():
                before = descriptions.get(address) or HEALTHY.get(address) or {}
                descriptions[address] = (
                    None if change is None else apply_merge_patch(before, change)
                )
        unserved = [kind for kind in DEFAULT_KINDS if not self.serves(kind)]
        descriptions = {
            address: None if ObjectAddress.parse(address).kind in unserved else each
            for address, each in descriptions.items()
        }
        if served != self.served:
            for notify in self.discovery_watchers:
                notify()
        self._update_objects(descriptions, now=self.clock.wall_time)

    def _update_objects(self, descriptions: Mapping[str, Mapping | None], *, now) -> None:
        changes = []
        for text in sorted(descriptions.keys() | self.descriptions.keys()):
            if self.descriptions.get(text) == descriptions.get(text):
                continue
            address = ObjectAddress.parse(text)
            self.case_objects.words.pop(address, None)
            for _, new in self.case_objects.change({text: descriptions.get(text)}, now=now):
                changes.append(self._put(address, new))
        self.descriptions = dict(descriptions)
        changes.sort(key=lambda c: (DEFAULT_KINDS.index(c.kind), c.name))
        for notify in self.object_watchers:
            notify(changes)

    def _put(self, address: ObjectAddress, new: ApiObject | None) -> ObjectUpdate:
        name = (address.namespace, address.name)
        if new is None:
            self.objects[address.kind].pop(name, None)
        else:
            self.objects[address.kind][name] = new
        return ObjectUpdate(address.kind, name, new, self.clock.now)
