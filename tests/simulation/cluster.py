"""
The objects as they truly are, and who is told of their changes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from reporter.model.kinds import KINDS, ResourceKind
from reporter.model.objects import ApiObject
from reporter.model.observations import Discovery
from tests.builders import LONG_AGO
from tests.simulation.agenda import Agenda
from tests.simulation.troubles import CRDS, HEALTHY, TROUBLES
from tests.stories.words import merged
from tests.stories.world import Address, World


Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """
    *made* is None for an object that was deleted.
    """

    kind: ResourceKind
    name: Name
    made: ApiObject | None
    at: float


@dataclass
class Cluster:
    """
    What a trouble says of an object is merged over what is said of the healthy one.
    """

    agenda: Agenda
    troubles: list[str] = field(default_factory=list)
    objects: dict[ResourceKind, dict[Name, ApiObject]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    tell: list[Callable[[Iterable[Change]], None]] = field(default_factory=list)
    tell_served: list[Callable[[], None]] = field(default_factory=list)
    world: World = field(default_factory=World)
    said: dict[str, Mapping | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._say(HEALTHY, now=LONG_AGO)

    @property
    def served(self) -> Mapping[str, tuple[str, ...]]:
        gone = {crd for name in self.troubles for crd in TROUBLES[name].crds}
        return {crd: tuple(v) for crd, v in CRDS.items() if v and crd not in gone}

    @property
    def discovery(self) -> Discovery:
        return Discovery(self.served)

    def serves(self, kind: ResourceKind) -> bool:
        return kind.qualified not in CRDS or kind.qualified in self.served

    def begin(self, name: str) -> None:
        if name not in self.troubles:
            self._become([*self.troubles, name])

    def end(self, name: str) -> None:
        if name in self.troubles:
            self._become([each for each in self.troubles if each != name])

    def _become(self, troubles: list[str]) -> None:
        served, self.troubles = self.served, troubles
        words: dict[str, Mapping | None] = dict(HEALTHY)
        for name in troubles:
            for address, said in TROUBLES[name].change.items():
                before = words.get(address)
                words[address] = None if said is None else merged(before or {}, said)
        gone = [kind for kind in KINDS if not self.serves(kind)]
        words = {a: None if Address.of(a).kind in gone else w for a, w in words.items()}
        if served != self.served:
            for told in self.tell_served:
                told()
        self._say(words, now=self.agenda.wall)

    def _say(self, words: Mapping[str, Mapping | None], *, now) -> None:
        changes = []
        for text in words.keys() | self.said.keys():
            if self.said.get(text) == words.get(text):
                continue
            address = Address.of(text)
            self.world.said.pop(address, None)
            for _, made in self.world.change({text: words.get(text)}, now=now):
                changes.append(self._put(address, made))
        self.said = dict(words)
        changes.sort(key=lambda c: (KINDS.index(c.kind), c.name))
        for told in self.tell:
            told(changes)

    def _put(self, address: Address, made: ApiObject | None) -> Change:
        name = (address.namespace, address.name)
        if made is None:
            self.objects[address.kind].pop(name, None)
        else:
            self.objects[address.kind][name] = made
        return Change(address.kind, name, made, self.agenda.now)
