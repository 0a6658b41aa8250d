"""Turn the outcomes of a set's engines into troubles, one for each pod."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from reporter.kinds.core import PODS
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.probes.engine_check import PodEngines
from reporter.resources.check_result import CheckResult, Inconclusive
from reporter.resources.engine_view import EngineTrouble, EngineUnknown
from reporter.resources.replicas import DEGRADED


HIGHEST = frozenset({"lasted", "usage"})
"""The numbers of which that of the worst engine is given; of the others the sum of all."""

MAX_NAMES = 8
"""The engines of a pod that a message names."""


class Extent(Struct, frozen=True):
    """
    The number of engines of the set's Ready pods with the trouble. *wanted*: replicas of the set.
    """

    troubled: int
    total: int
    wanted: int

    @classmethod
    def of(cls, pods: Sequence[PodEngines], *, wanted: int) -> "Extent":
        """Count the engines; a pod that cannot be evaluated counts as one without trouble."""
        total = sum(max(len(each.outcomes), 1) for each in pods)
        return cls(sum(len(_troubled(each)) for each in pods), total, wanted)

    @property
    def is_out(self) -> bool:
        return self.troubled == self.total

    def cause_code(self, code: str) -> str:
        return code if self.is_out else f"{DEGRADED}.{code}"

    def describe(self, participle: str) -> str:
        """Return the beginning of a message; empty for the engine of the only replica."""
        if self.total == 1:
            return f"unavailable, the only Ready engine is {participle}: " * (self.wanted > 1)
        if self.is_out:
            return f"unavailable, all {self.total} engines are {participle}: "
        verb = "is" if self.troubled == 1 else "are"
        return f"degraded, {self.troubled} of {self.total} engines {verb} {participle}: "


class TroubleText(Struct, frozen=True):
    """
    The words of a probe. *codes*: its cause codes, worst first. *state*: describes the numbers.
    """

    codes: tuple[str, ...]
    state: Callable[[str, Mapping[str, float]], str]
    fields: Mapping[str, str]


def describe_requests(numbers: Mapping[str, float]) -> str:
    running, waiting = numbers["running"], numbers["waiting"]
    return f"{running:.0f} request{'' if running == 1 else 's'} running, {waiting:.0f} waiting"


def engine_results(
    pods: Iterable[PodEngines], text: TroubleText, extent: Extent | None = None
) -> Iterator[CheckResult]:
    """
    Yield the results of all pods. With *extent* the trouble of some engines differs from that of all.
    """
    for each in pods:
        name = each.pod.metadata.name
        if each.unknown is not None:
            yield _inconclusive(f"pod {name}", each.unknown)
            continue
        if _troubled(each):
            yield _pod_trouble(each, text, extent)
        for engine, outcome in each.outcomes:
            if isinstance(outcome, EngineUnknown):
                yield _inconclusive(_place(name, [engine]), outcome)


def _inconclusive(place: str, unknown: EngineUnknown) -> Inconclusive:
    return Inconclusive(f"{place}: {unknown.why}", is_brief=unknown.is_brief)


def _pod_trouble(found: PodEngines, text: TroubleText, extent: Extent | None) -> Trouble:
    meta, troubled = found.pod.metadata, _troubled(found)
    code = min((each.code for each in troubled.values()), key=text.codes.index)
    names = {name for each in troubled.values() for name in each.numbers}
    numbers = {name: _combined(name, troubled.values()) for name in names}
    ref = ObjectRef(PODS.group_resource, meta.namespace, meta.name)
    return Trouble(
        cause=Cause(ref, extent.cause_code(code) if extent is not None else code),
        # The window is the hold.
        kind=TroubleKind.LOST,
        is_out=extent is not None and extent.is_out,
        begins=any(each.begins for each in troubled.values()),
        object_created_at=meta.creation_timestamp,
        message_fields={
            **text.fields,
            "pod": meta.name,
            "place": _place(meta.name, list(troubled)),
            "state": text.state(code, numbers),
        },
    )


def _troubled(pod: PodEngines) -> Mapping[str, EngineTrouble]:
    """
    Return the engines of which trouble begins, if there are any: of others it may never have begun.
    """
    found = {name: each for name, each in pod.outcomes if isinstance(each, EngineTrouble)}
    return {name: each for name, each in found.items() if each.begins} or found


def _combined(name: str, troubled: Iterable[EngineTrouble]) -> float:
    values = [each.numbers.get(name, 0.0) for each in troubled]
    return max(values) if name in HIGHEST else sum(values)


def _place(pod: str, engines: Sequence[str]) -> str:
    """Name the engines of a pod; a server without an engine label is named by its pod alone."""
    names = sorted((each for each in engines if each), key=lambda each: (len(each), each))
    if not names:
        return f"pod {pod}"
    shown = ", ".join(names[:MAX_NAMES]) + (" and more" if len(names) > MAX_NAMES else "")
    return f"engine{'s' if len(names) > 1 else ''} {shown} of pod {pod}"


def has_trouble(pods: Iterable[PodEngines]) -> bool:
    return any(_troubled(each) for each in pods)
