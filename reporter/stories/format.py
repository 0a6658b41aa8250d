"""
The types of a story's file: the one declaration of its keys, from which its JSON Schema is rendered.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeAlias, TypeVar

from msgspec import Meta, field

from reporter.catalogue.format import format_duration
from reporter.catalogue.format_of_kinds import CatalogueStruct, Text, doc, matching
from reporter.model.times import DURATION_PATTERN, parse_units
from reporter.scrape.samples import ScrapeResult


# --------------------------------------------------------------------
# The words that describe objects and metrics pages, instead of the fields of the API.


T = TypeVar("T")
Word: TypeAlias = T | None
"""A word; null takes it back."""

Count = Annotated[int, Meta(ge=0, le=100_000, extra={"is": "a whole number, 0 or more"})]
Number: TypeAlias = int | float


class DeploymentNotation(CatalogueStruct, frozen=True, kw_only=True):
    """A Deployment. Without any key it is healthy and has one replica."""

    replicas: Annotated[Word[Count], doc("Wished for. Absent: 1.")] = None
    ready: Annotated[Word[Count], doc("Absent: all.")] = None
    updated: Annotated[Word[Count], doc("Absent: all.")] = None
    total: Annotated[Word[Count], doc("Absent: all.")] = None
    available: Annotated[Word[Count], doc("Absent: those that are ready.")] = None
    rollout: Annotated[Word[str], doc("Reason of its condition Progressing.")] = None
    refused: Annotated[Word[str], doc("Message of its condition ReplicaFailure.")] = None
    paused: Word[bool] = None
    stale: Annotated[Word[bool], doc("Its controller has not looked at it since it changed.")] = (
        None
    )
    deleting: Word[bool] = None
    age: Annotated[Word[str], doc("How old it is, as 5m.")] = None
    labels: Word[dict[str, str]] = None


class PodNotation(CatalogueStruct, frozen=True, kw_only=True):
    """A Pod, named `<deployment>-<hash>-<suffix>`, or `<workspace>-<index>` with *model*."""

    ready: Annotated[Word[bool], doc("Absent: true.")] = None
    model: Annotated[Word[str], doc("Its InferenceSet.")] = None
    node: Word[str] = None
    host_network: Annotated[Word[bool], doc("It has the address of its node.")] = None
    revision: Annotated[Word[str], doc("Of the template it was made from.")] = None
    waiting: Annotated[Word[str], doc("Reason of its waiting container.")] = None
    message: Annotated[Word[str], doc("Message of its waiting container.")] = None
    exit_code: Annotated[Word[int], doc("Of its container that ended.")] = None
    ended: Annotated[Word[str], doc("Reason of the container that ended.")] = None
    last_exit: Annotated[Word[int], doc("Exit code of the run before.")] = None
    last: Annotated[Word[str], doc("Reason of the end of the run before.")] = None
    restarts: Word[Count] = None
    container: Annotated[Word[str], doc("Name of its first container.")] = None
    container_ready: Annotated[Word[bool], doc("Of its first container; absent: as the Pod.")] = (
        None
    )
    sidecars: Annotated[
        Word[dict[str, bool | str]],
        doc("Further containers by name: whether each is ready, or why it waits."),
    ] = None
    containers: Annotated[Word[bool], doc("false: the kubelet has not written their status.")] = (
        None
    )
    unschedulable: Annotated[Word[str], doc("Message of the scheduler.")] = None
    disrupted: Annotated[Word[str], doc("Reason of its disruption.")] = None
    why: Annotated[Word[str], doc("Reason of its condition Ready.")] = None
    details: Annotated[Word[str], doc("Message of its condition Ready.")] = None
    phase: Word[str] = None
    reason: Annotated[Word[str], doc("Of its status, as Evicted.")] = None
    failure: Annotated[Word[str], doc("Message of its status.")] = None
    owner: Annotated[Word[str], doc("Kind of what controls it.")] = None
    labels: Word[dict[str, str]] = None
    deleting: Word[bool] = None
    age: Annotated[Word[str], doc("How old it is, as 5m.")] = None


class WorkspaceNotation(CatalogueStruct, frozen=True, kw_only=True):
    """
    A Workspace. A condition is `ready`, `none` for absent, or the reason (and `: message`) for False.
    """

    of: Annotated[Word[str], doc("Its InferenceSet.")] = None
    claims: Annotated[Word[str], doc("Its condition NodeClaimReady.")] = None
    nodes: Annotated[Word[str], doc("Its condition NodesReady.")] = None
    resources: Annotated[Word[str], doc("Its condition ResourceReady.")] = None
    inference: Annotated[Word[str], doc("Its condition InferenceReady.")] = None
    pods: Annotated[Word[Count], doc("How many pods it has. Absent: 1.")] = None
    state: Annotated[Word[str], doc("Value of its status.state.")] = None
    upgrade: Annotated[
        Word[str], doc("When an upgrade in place was requested, since the start.")
    ] = None
    silent: Annotated[Word[bool], doc("KAITO has not looked at it.")] = None
    deleting: Word[bool] = None
    age: Annotated[Word[str], doc("How old it is, as 5m.")] = None


class PageNotation(CatalogueStruct, frozen=True, kw_only=True):
    """The metrics page of a Pod: of a download, an engine, or a recorded model server."""

    speed: Annotated[Word[str], doc("Of its download, as 12.5 MB/s.")] = None
    left: Annotated[Word[str], doc("What is yet to arrive, as 52 GB.")] = None
    remaining: Annotated[Word[str], doc("The time that is left, as 90s, whatever the speed.")] = (
        None
    )
    engine: Annotated[Word[bool], doc("true: a page of vLLM itself.")] = None
    metric: Annotated[Word[bool], doc("false: no metrics of downloads.")] = None
    samples: Annotated[
        Word[dict[str, Word[Number]]], doc("Other gauges, each with its value.")
    ] = None
    unreadable: Annotated[Word[str], doc("Why there is no page.")] = None
    result: Annotated[Word[ScrapeResult], doc("With unreadable: the class of the failure.")] = None
    page: Annotated[Word[str], doc("A recorded page of a model server.")] = None
    values: Annotated[
        Word[dict[str, Word[Number]]], doc("Numbers of the recorded page, by short name.")
    ] = None
    rates: Annotated[
        Word[dict[str, Word[Number]]], doc("How much each number grows in a second.")
    ] = None
    without: Annotated[Word[list[str]], doc("Families that the page lacks, by short name.")] = None


# --------------------------------------------------------------------
# The error of a story that cannot be replayed.


class StoryError(ValueError):
    """
    The error of a notation that means nothing. Its text says what is wrong and what to write.

    *key*: where in the story it is, if it is in none of its steps.
    """

    def __init__(self, text: str, key: str = "given") -> None:
        super().__init__(text)
        self.key = key


# --------------------------------------------------------------------
# The times of every story.


START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
"""The start of the process of a story."""

LONG_AGO = START - timedelta(hours=24)
"""Since when all is well."""


# --------------------------------------------------------------------
# The notation of a story for durations, times, numbered objects and changes.


MAX_DURATION = timedelta(days=7)
"""
The longest duration of a story. Discovery runs twice a minute, so a week has twenty thousand passes.
"""
RELATIVE_TIME = re.compile(r"now|(\S+) ago")
NUMBERED = re.compile(r"\{(\d{1,9})\.\.(\d{1,9})\}", re.ASCII)
MAX_NUMBERED = 10_000
"""The number of objects that one name may stand for."""
NUMBER = "{n}"


def parse_duration(text: str) -> timedelta:
    """
    Return the duration of a text such as 90s, 5m or 1h30m; raise StoryError if it is none.

    One above MAX_DURATION raises it, too.
    """
    try:
        duration = parse_units(text)
    except ValueError:
        raise StoryError(f"`{text}` is no duration such as 90s, 5m or 1h30m") from None
    if duration > MAX_DURATION:
        raise StoryError(f"`{text}` is longer than {MAX_DURATION.days} days, which is the most")
    return duration


def apply_merge_patch(old: Any, new: Any) -> Any:
    """
    Apply a JSON merge patch (RFC 7396): merge objects, remove nulls, replace all other values.
    """
    if not isinstance(new, Mapping):
        return new
    before = old if isinstance(old, Mapping) else {}
    both = {
        key: apply_merge_patch(before.get(key), value)
        for key, value in new.items()
        if value is not None
    }
    return {**{key: value for key, value in before.items() if key not in new}, **both}


def resolve_times(value: Any, *, now: datetime) -> Any:
    """Return a description with times in place of the texts now and 5m ago, at any depth."""
    if isinstance(value, Mapping):
        return {key: resolve_times(each, now=now) for key, each in value.items()}
    if isinstance(value, list):
        return [resolve_times(each, now=now) for each in value]
    found = RELATIVE_TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    return (now - parse_duration(found[1]) if found[1] else now).isoformat()


def expand_numbered(
    changes: Mapping[str, Any],
) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
    """
    Expand ``{1..200}`` in a name to that many objects.

    ``{n}`` in their descriptions stands for the number. Raises StoryError for more than MAX_NUMBERED.
    """
    for name, words in changes.items():
        found = NUMBERED.search(name)
        if found is None:
            yield name, words
            continue
        first, last = int(found[1]), int(found[2])
        if last - first >= MAX_NUMBERED:
            raise StoryError(f"{name}: stands for more than {MAX_NUMBERED} objects")
        for number in range(first, last + 1):
            yield NUMBERED.sub(str(number), name, count=1), _with_number(words, number)


def _with_number(value: Any, number: int) -> Any:
    if isinstance(value, Mapping):
        return {
            _with_number(key, number): _with_number(each, number) for key, each in value.items()
        }
    if isinstance(value, list):
        return [_with_number(each, number) for each in value]
    return value.replace(NUMBER, str(number)) if isinstance(value, str) else value


# --------------------------------------------------------------------
# Read what a story expects, in the form in which a replay gives it.


def since_start(moment: datetime) -> str:
    """Return the time since the start of a replay, such as ``1m30s``."""
    return format_duration(timedelta(seconds=round((moment - START).total_seconds())))


def expected_announcements(story: Mapping[str, Any]) -> list[tuple[timedelta, str]]:
    """Return the announcements that a story expects, with their times since the start."""
    return [
        (parse_duration(at), line)
        for at, lines in (story.get("announced") or {}).items()
        for line in ([lines] if isinstance(lines, str) else lines)
    ]


def expected_lines(story: Mapping[str, Any]) -> list[str]:
    """Return the expected announcements as lines with their time."""
    return [f"{since_start(START + at)} {line}" for at, line in expected_announcements(story)]


def expected_statuses(story: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
    """Return the lines of the status that a story expects, by time since the start and subject."""
    statuses = story.get("status") or {}
    return {since_start(START + parse_duration(at)): lines for at, lines in statuses.items()}


def matches_line(line: str, expected: str) -> bool:
    """Return whether a line is the expected one. An expected line that ends in … is a prefix."""
    if expected.endswith("…"):
        return line.startswith(expected.removesuffix("…"))
    return line == expected


Moment = Annotated[
    str,
    matching(
        DURATION_PATTERN, "a duration such as 90s, 5m or 1h30m", examples=["90s", "5m", "1h30m"]
    ),
]
Jump = Annotated[
    str,
    matching(
        f"^-?{DURATION_PATTERN.removeprefix('^')}",
        "a duration such as 5m, or -5m",
        examples=["90s", "-5m"],
    ),
]
ObjectChanges: TypeAlias = Annotated[
    dict[str, dict[str, Any] | None],
    doc(
        "Objects by kind and name, such as `Deployment kaito-system/router`. What is given "
        "is merged into what was given before; null removes a word, or the object."
    ),
]
PageChanges: TypeAlias = Annotated[
    dict[str, PageNotation | None],
    doc("What the metrics page of a Pod shows from then on, by `Pod NAMESPACE/NAME`."),
]
ServedVersions: TypeAlias = Annotated[
    dict[str, list[str] | None], doc("The versions that are served, by CRD; null for none.")
]


SilencesNotation: TypeAlias = Annotated[
    list[dict[str, Any]] | str,
    doc("The file of silences from then on: a list of entries, or its text."),
]


class DiscoveryNotation(CatalogueStruct, frozen=True, kw_only=True):
    """The answer of discovery. Without any key it answers well."""

    failing: Annotated[str, doc("Why it fails as a whole.")] = ""
    stale: Annotated[list[str], doc("The API groups that it cannot list.")] = field(
        default_factory=list
    )


class Given(CatalogueStruct, frozen=True, kw_only=True):
    """The differences of the stack from the healthy one."""

    change: ObjectChanges = field(default_factory=dict)
    pages: PageChanges = field(default_factory=dict)
    crds: ServedVersions = field(default_factory=dict)
    discovery: DiscoveryNotation | None = None
    watch: Annotated[
        dict[str, str], doc("The state of a watch by resource: open, lost, forbidden or unserved.")
    ] = field(default_factory=dict)
    silences: SilencesNotation | None = None


class Step(Given, frozen=True, kw_only=True):
    """A moment of the story, and what changes then."""

    at: Annotated[Moment, doc("Since the start of the process.")]
    what: Annotated[str, doc("What happens, in words.")] = ""
    within: Annotated[
        Moment | None,
        doc(
            "The objects and CRDs of this step come one after the other within so long. The "
            "story is run in eight orders."
        ),
    ] = None
    restart: Annotated[
        Moment | None, doc("The process is killed, and starts again after so long.")
    ] = None
    clock: Annotated[Jump | None, doc("The clock is set forward by so much, or back.")] = None


class Story(CatalogueStruct, frozen=True, kw_only=True):
    """
    The course of events in a stack, and the announcements by time; nothing else may be announced.
    """

    why: Annotated[Text, doc("What it shows, in a sentence.")]
    of: Annotated[list[str], Meta(description="The reasons that it is about.", min_length=1)]
    overlay: Annotated[
        dict[str, Any] | None, doc("An overlay of the catalogue, for this story alone.")
    ] = None
    packs: Annotated[
        list[str] | None, doc("The packs of the catalogue; those under test unless given.")
    ] = None
    flags: Annotated[
        dict[str, str | int | float | bool],
        doc("Flags of the process that differ from their default, by name."),
    ] = field(default_factory=dict)
    given: Given = Given()
    story: Annotated[list[Step], doc("The steps, in the order of time.")]
    announced: Annotated[
        dict[str, str | list[str]],
        Meta(
            extra_json_schema={"propertyNames": {"pattern": DURATION_PATTERN}},
            description="The lines `TYPE REASON KIND/NAME: MESSAGE` by time since the start. One that ends "
            "in … is the beginning of what is announced.",
        ),
    ]
    status: Annotated[
        dict[str, dict[str, str]] | None,
        Meta(
            extra_json_schema={"propertyNames": {"pattern": DURATION_PATTERN}},
            description="The status at some times, one line for each subject that is compared.",
        ),
    ] = None
    notes: Annotated[list[str], doc("What the log and /status ask to set right, at the end.")] = (
        field(default_factory=list)
    )
    until: Annotated[
        Moment | None, doc("When it ends; 15 minutes after the last step unless given.")
    ] = None
    real: Annotated[
        bool, doc("For the tests of this program: it is replayed on a cluster too.")
    ] = False
