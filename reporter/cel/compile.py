"""Compile the expressions of one reason, and find what they read."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from reporter.catalogue.entries import GivenEntry, ParameterProblem
from reporter.cel.crd_fields import CrdFields
from reporter.cel.declared_kinds import SubjectRule
from reporter.cel.library import Compiled, CompileError, compile_expression
from reporter.cel.limits import MAX_TEXT_BYTES, why_too_costly
from reporter.cel.parameters import CelParameters
from reporter.cel.reads import EACH, OBJECT, NotConstantError, Path, Reads, find_reads
from reporter.kinds.declared import DeclaredKind
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer, Reason
from reporter.model.suggest import suggest


# --------------------------------------------------------------------
# The parameters of a reason in CEL as they are evaluated.


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
    *current_id*: the identity of its definition of current, by which the store remembers which objects
    have met it.
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


BOOLEAN = frozenset({"BOOL", "DYN"})
TEXT = frozenset({"STRING", "DYN"})
TIME = frozenset({"TIMESTAMP", "STRING", "DYN"})
TYPES = {
    "current": BOOLEAN,
    "failed": BOOLEAN,
    "inProgress": BOOLEAN,
    "text": TEXT,
    "cause": TEXT,
    "since": TIME,
}
WANTED = {BOOLEAN: "true or false", TEXT: "a text", TIME: "a time"}
MAX_PARAMETER_BYTES = 16 * 1024


class CompiledReason(NamedTuple):
    """
    The expressions of a reason by key, and the fields that they read by kind.

    The last two are as in CelReason.
    """

    given: CelParameters
    rule: SubjectRule
    expressions: Mapping[str, Expression]
    reads: Mapping[str, frozenset[tuple[Path, bool]]]
    lookups: frozenset[str]
    remembers_current: bool
    depends_on_object_alone: bool


class ReasonCompiler:
    """
    Compiles the expressions of one entry of the catalogue.

    *number*: its place in the list, which problems name. *problems*: those that `compile` has found.
    *crds*: the schemas by which the fields that the expressions read are checked.
    """

    def __init__(
        self,
        number: int,
        entry: GivenEntry,
        kinds: Mapping[str, DeclaredKind],
        crds: CrdFields,
    ) -> None:
        self.problems: list[ParameterProblem] = []
        self._number, self._entry, self._kinds, self._crds = number, entry, kinds, crds
        self._given: CelParameters = entry.parameters
        self._reads: dict[str, Reads] = {}

    def compile(self) -> CompiledReason | None:
        """Return the compiled reason; None if it has problems."""
        given = self._given
        self._check_kind(given.kind, "kind")
        expressions = dict(self._expressions())
        rule = self._rule()
        if not self._entry.is_partial:
            for text in self._subject_problems():
                self._add("subject", text)
            self._check_needed_by()
        if len(msgspec.json.encode(given.parameters)) > MAX_PARAMETER_BYTES:
            self._add("parameters", f"has more than {MAX_PARAMETER_BYTES} bytes")
        if self.problems:
            return None
        return CompiledReason(
            given,
            rule,
            expressions,
            self._fields(),
            frozenset(kind for reads in self._reads.values() for kind in reads.kinds),
            remembers_current=_is_of_object_alone(self._reads["current"]),
            depends_on_object_alone=all(map(_is_of_object_alone, self._reads.values())),
        )

    def _rule(self) -> SubjectRule:
        given, declared = self._given, self._kinds.get(self._given.kind)
        subjects = self._entry.subjects
        makes_subjects = (
            subjects is not None
            and declared is not None
            and not given.subject.label
            and not given.subject.owner
            and (declared.kind, declared.group_resource)
            == (subjects.kind.kind, subjects.kind.group_resource)
        )
        return SubjectRule(
            self._entry.layer,
            given.subject.label,
            given.subject.owner,
            next(iter(self._owner_groups()), ""),
            subjects.subject_kind if subjects is not None else "",
            subjects if makes_subjects else None,
        )

    def _owner_groups(self) -> list[str]:
        """
        Return the API groups that the owner may be of: the given one, or those of the known kinds.

        A kind that makes the subjects is meant before any other one of its name.
        """
        owner, group = self._given.subject.owner, self._given.subject.group
        if group is not None or not owner:
            return [group or ""]
        about = self._entry.subjects
        if about is not None and about.kind.kind == owner:
            return [about.kind.group]
        declared = self._kinds.values()
        return sorted({each.group for each in declared if each.kind == owner})

    def _expressions(self) -> Iterator[tuple[str, Expression]]:
        texts = msgspec.structs.asdict(self._given) | {"inProgress": self._given.in_progress}
        for key, types in TYPES.items():
            text = texts[key]
            if not text.strip():
                if key == "current":
                    self._add(key, "is empty; write an expression that is true while all is well")
                continue
            expression = self._compile(key, text, types)
            if expression is not None:
                yield key, expression

    def _compile(self, key: str, text: str, types: frozenset[str]) -> Expression | None:
        if len(text.encode()) > MAX_TEXT_BYTES:
            size = f"{len(text.encode())} bytes, of at most {MAX_TEXT_BYTES}"
            self._add(key, f"has {size}; divide it into several reasons")
            return None
        try:
            compiled = compile_expression(text)
            reads = find_reads(compiled.tree)
        except CompileError as err:
            for each in err.problems:
                self._add(key, *each)
            return None
        except NotConstantError:
            self._add(key, 'the kind of a lookup must be written out, as in lookup("Secret", …)')
            return None
        if compiled.type not in types:
            self._add(key, f"is {compiled.type.lower()}, and must be {WANTED[types]}")
        costly = why_too_costly(compiled.tree)
        if costly:
            self._add(key, costly)
        for kind in sorted(reads.kinds):
            self._check_kind(kind, key)
        for path in sorted(self._whole_reads(reads)):
            self._add(key, f"reads all of {path}; name the fields that it needs")
        self._check_fields(key, text, reads)
        self._reads[key] = reads
        return Expression(key, text, compiled, self._entry.place(key))

    def _check_fields(self, key: str, text: str, reads: Reads) -> None:
        """Add each field that is read and that no object has by its CRD, at its first mention."""
        found = set()
        for (root, *path), _ in reads.fields:
            kind = self._kinds.get(self._given.kind if root == OBJECT else root)
            unknown = self._crds.find_unknown(kind, tuple(path)) if kind is not None else None
            if unknown is not None:
                found.add((root, unknown))
        for root, unknown in sorted(found):
            self._add(key, unknown.describe(root), *_position(text, unknown.path[-1]))

    def _whole_reads(self, reads: Reads) -> set[str]:
        """
        Return the objects, and their metadata, of which an expression reads no field by name.
        """
        found = set()
        for path, is_whole in reads.fields:
            root, *rest = path
            if (not rest and is_whole) or rest[:1] == [EACH]:
                found.add(root)
            elif (rest == ["metadata"] and is_whole) or rest[:2] == ["metadata", EACH]:
                found.add(f"{root}.metadata")
        return found

    def _fields(self) -> dict[str, frozenset[tuple[Path, bool]]]:
        """
        Return the fields that are read, by kind; also for a kind whose objects need only exist.
        """
        fields: dict[str, set[tuple[Path, bool]]]
        fields = {kind: set() for kind in (self._given.kind, *self._given.needed_by)}
        for reads in self._reads.values():
            for (root, *rest), is_whole in reads.fields:
                kind = self._given.kind if root == OBJECT else root
                kept = fields.setdefault(kind, set())
                if rest:
                    kept.add((tuple(rest), is_whole))
        return {kind: frozenset(each) for kind, each in fields.items()}

    def _subject_problems(self) -> Iterator[str]:
        subject, layer = self._given.subject, self._entry.layer
        about = self._entry.subjects
        declared = self._kinds.get(self._given.kind)
        if subject.label and subject.owner:
            yield "has a label and an owner; remove one of the two"
        if subject.owner and layer is not Layer.MODELDEPLOYMENT:
            yield "an owner names a model; remove it, or write `layer: modeldeployment`"
        if subject.group is not None and not subject.owner:
            yield "a group is that of an owner; add the owner, or remove the group"
        if len(groups := self._owner_groups()) != 1:
            known = f"may be {' or '.join(map(repr, groups))}" if groups else "is not known"
            yield f"the API group of the owner {subject.owner} {known}; add `group`"
        if layer is Layer.CLUSTER and subject.label:
            yield "a reason of the cluster is about all objects; remove the label"
        is_led = bool(subject.label or subject.owner) or self._rule().makes is not None
        if about is not None and about.subject_kind and declared is not None and not is_led:
            belongs = f"which {about.kind.kind} an object of {declared.kind} belongs to"
            yield f"{belongs} is not known; add a label or an owner"
        if declared is None or declared.namespaced:
            return
        if layer is Layer.MODELDEPLOYMENT:
            yield f"objects of {declared.kind} have no namespace, and a model has one"
        elif layer is Layer.MODELHARNESS and not subject.label:
            yield f"objects of {declared.kind} have no namespace; add the label that names it"

    def _check_needed_by(self) -> None:
        needed_by = self._given.needed_by
        for kind in needed_by:
            self._check_kind(kind, "neededBy")
        if needed_by and self._entry.layer is not Layer.CLUSTER:
            self._add("neededBy", "only the cluster needs an object; write `layer: cluster`")
        if self._given.kind in needed_by:
            self._add("neededBy", f"{self._given.kind} cannot need itself; remove it")

    def _check_kind(self, kind: str, key: str) -> None:
        if kind in self._kinds:
            return
        offer = suggest(kind, self._kinds, form="`{}`", otherwise="declare it under `kinds`")
        self._add(key, f"unknown kind `{kind}`: {offer}")

    def _add(self, key: str, text: str, line: int = 0, column: int = 0) -> None:
        self.problems.append(ParameterProblem(self._number, key, text, line, column))


def _position(text: str, name: str) -> tuple[int, int]:
    """Return line and column of a name in an expression; zeros for one that is not written so."""
    found = re.search(rf"\b{re.escape(name)}\b", text)
    if found is None:
        return 0, 0
    before = text[: found.start()]
    return before.count("\n") + 1, found.start() - before.rfind("\n")


def _is_of_object_alone(reads: Reads) -> bool:
    return "now" not in reads.names and not reads.kinds
