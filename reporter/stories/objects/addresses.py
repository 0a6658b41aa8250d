"""The addresses of objects in a story."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reporter.model.kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.stories.notation.errors import StoryError


OWN_KINDS = (*DEFAULT_KINDS, *OPTIONAL_KINDS)


@dataclass(frozen=True)
class ObjectAddress:
    """The address of an object. *kind*: one of its resource; this program's own if it has one."""

    kind: ResourceKind
    namespace: str
    name: str

    @classmethod
    def parse(
        cls, text: str, declared: Sequence[ResourceKind] = (), *, is_own: bool = False
    ) -> "ObjectAddress":
        """
        Parse ``Deployment kaito-system/body-based-router`` or ``Namespace kaito-system``.

        *declared*: the kinds that the catalogue of the case declares, some with another name. One of
        another group is meant before the program's own kind of that name, unless *is_own*.
        """
        kind, _, where = text.partition(" ")
        namespace, _, name = where.rpartition("/")
        known = (*OWN_KINDS, *declared) if is_own else (*declared, *OWN_KINDS)
        named = [each for each in declared if each.alias.partition("/")[2] == kind]
        found = named or [each for each in known if each.kind == kind and not _has_name(each)]
        if not found:
            raise StoryError(f"{text}: known kinds are {', '.join(k.kind for k in known)}")
        if not name:
            raise StoryError(f"{text}: is no object such as `Deployment kaito-system/router`")
        return cls(found[0], namespace, name).at((*OWN_KINDS, *declared))[0]

    def at(self, kinds: Iterable[ResourceKind]) -> "list[ObjectAddress]":
        """Return its address in each of these kinds that is one of its resource."""
        resource = self.kind.group_resource
        return [
            ObjectAddress(each, self.namespace, self.name)
            for each in kinds
            if each.group_resource == resource
        ]


def _has_name(kind: ResourceKind) -> bool:
    return kind.alias.partition("/")[2] not in {"", "declared"}
