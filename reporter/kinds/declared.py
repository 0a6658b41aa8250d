"""A kind that a catalogue declares, to make reasons about its objects."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DeclaredKind:
    """
    A resource of the API by its names.

    *version*: empty for the one that the API server prefers. *name*: an alias, for a kind declared
    twice. *observes_generation*: its status.observedGeneration is that of its own spec. The
    selectors and *namespace* limit which objects are read; empty for all. *place*: file:line that
    decides *namespaced*, for errors; not compared.
    """

    kind: str
    resource: str
    name: str = ""
    group: str = ""
    version: str = ""
    namespaced: bool = True
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""
    observes_generation: bool = True
    place: str = field(default="", compare=False)

    @property
    def called(self) -> str:
        """The name by which reasons refer to it."""
        return self.name or self.kind

    @property
    def group_resource(self) -> str:
        """The name as in a CRD and in kubectl: ``resource.group``."""
        return f"{self.resource}.{self.group}" if self.group else self.resource
