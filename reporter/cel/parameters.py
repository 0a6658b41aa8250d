"""The parameters of a reason in CEL: as they are written, and as they are evaluated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from reporter.cel.declared_subjects import SubjectRule
from reporter.cel.library import Compiled
from reporter.kinds.declared import DeclaredKind
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Reason


class SubjectParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    The way from an object to its subject: the value of a *label*, or the *owner* of this kind.

    *group*: the API group of the owner, empty for the core group; None for that of the known kind.

    Without either it is the namespace of the object, or the InferenceSet in the label of KAITO.
    """

    label: str = ""
    owner: str = ""
    group: str | None = None


class CelParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    The parameters as an entry gives them. *kind*: one that the catalogue declares.

    All other texts are expressions. *current*: the object is as its spec wants it. If it is not: *failed*: a component reports a hard
    error; *in_progress*: a normal start or change. *text*: what the object says; *cause*: a word that
    stays the same while the cause does; *since*: when the trouble began.

    *needed_by*: kinds of which each object needs one of *kind*.
    """

    kind: str
    current: str
    failed: str = ""
    in_progress: str = msgspec.field(default="", name="inProgress")
    text: str = ""
    cause: str = ""
    since: str = ""
    subject: SubjectParameters = SubjectParameters()
    needed_by: tuple[str, ...] = msgspec.field(default=(), name="neededBy")
    parameters: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression, and the file and line at which its key is."""

    key: str
    text: str
    compiled: Compiled = field(compare=False)
    place: str


class ReadKind(NamedTuple):
    """A kind that the catalogue declares, and how its objects are watched."""

    declared: DeclaredKind
    watched: ResourceKind


class KeptResults(NamedTuple):
    """
    The results of the objects of one subject, or of one shard of a table.

    *source*: the immutable collection of the objects; the results hold while it is the same one.
    *rows*: for each object the results of the group's members, None if it is current for all.
    """

    source: object
    objects: Sequence[ApiObject]
    rows: Sequence[Any]


@dataclass(frozen=True, slots=True, eq=False)
class ReasonGroup:
    """
    The reasons about the same objects that depend on these alone. They are evaluated together.

    *kept*: their results, until the objects change. A cache of a pure function, not state.
    """

    members: list["CelReason"] = field(default_factory=list)
    kept: dict[int | str, KeptResults] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CelReason:
    """
    A reason whose expressions are compiled. One that was written with the same words is equal.

    *expressions*: by key; those that are given. *lookups*: the kinds that they look up, by name.
    *needed_by*: while there are objects of these kinds, it is trouble that there is none.
    *remembers_current*: ``current`` depends on the object alone, neither on the time nor on other objects,
    so the store remembers which objects were current. *depends_on_object_alone*: so do all expressions, and
    their results are kept. *member*: its number in the group.
    *current_id*: of its definition of current, by which the store remembers such objects.
    """

    reason: Reason
    kind: ReadKind
    rule: SubjectRule
    expressions: Mapping[str, Expression]
    parameters: Mapping[str, Any]
    lookups: Mapping[str, ReadKind]
    needed_by: tuple[ReadKind, ...]
    remembers_current: bool
    depends_on_object_alone: bool
    group: ReasonGroup = field(default_factory=ReasonGroup, compare=False)
    member: int = field(default=0, compare=False)
    current_id: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        # An attribute, as each evaluation of an object compares it.
        observes, current = self.kind.declared.observes_generation, self.expressions["current"]
        given = msgspec.json.encode([observes, current.text, self.parameters], order="sorted")
        object.__setattr__(self, "current_id", f"{self.reason} {given.decode()}")
