"""
The types of a story's file: the one declaration of its keys, from which its JSON Schema is rendered.
"""

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from reporter.catalogue.format_parts.base import CatalogueStruct, Text
from reporter.stories.notation.words import PageNotation


DURATION_PATTERN = r"^(?=[0-9])([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$"
Moment = Annotated[
    str,
    Meta(
        pattern=DURATION_PATTERN,
        examples=["90s", "5m", "1h30m"],
        extra={"is": "a duration such as 90s, 5m or 1h30m"},
    ),
]
Jump = Annotated[
    str,
    Meta(
        pattern=r"^-?(?=[0-9])([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$",
        examples=["90s", "-5m"],
        extra={"is": "a duration such as 5m, or -5m"},
    ),
]
ObjectChanges: TypeAlias = Annotated[
    dict[str, dict[str, Any] | None],
    Meta(
        description="Objects by kind and name, such as `Deployment kaito-system/router`. What is given "
        "is merged into what was given before; null removes a word, or the object."
    ),
]
PageChanges: TypeAlias = Annotated[
    dict[str, PageNotation | None],
    Meta(
        description="What the metrics page of a Pod shows from then on, by `Pod NAMESPACE/NAME`."
    ),
]
ServedVersions: TypeAlias = Annotated[
    dict[str, list[str] | None],
    Meta(description="The versions that are served, by CRD; null for none."),
]


Silences: TypeAlias = Annotated[
    list[dict[str, Any]] | str,
    Meta(description="The file of silences from then on: a list of entries, or its text."),
]


class DiscoveryNotation(CatalogueStruct, frozen=True, kw_only=True):
    """The answer of discovery. Without any key it answers well."""

    failing: Annotated[str, Meta(description="Why it fails as a whole.")] = ""
    stale: Annotated[list[str], Meta(description="The API groups that it cannot list.")] = field(
        default_factory=list
    )


class Given(CatalogueStruct, frozen=True, kw_only=True):
    """The differences of the stack from the healthy one."""

    change: ObjectChanges = field(default_factory=dict)
    pages: PageChanges = field(default_factory=dict)
    crds: ServedVersions = field(default_factory=dict)
    discovery: DiscoveryNotation | None = None
    watch: Annotated[
        dict[str, str],
        Meta(description="The state of a watch by resource: open, lost, forbidden or unserved."),
    ] = field(default_factory=dict)
    silences: Silences | None = None


class Step(Given, frozen=True, kw_only=True):
    """A moment of the story, and what changes then."""

    at: Annotated[Moment, Meta(description="Since the start of the process.")]
    what: Annotated[str, Meta(description="What happens, in words.")] = ""
    within: Annotated[
        Moment | None,
        Meta(
            description="The objects and CRDs of this step come one after the other within so long. The "
            "story is run in eight orders."
        ),
    ] = None
    restart: Annotated[
        Moment | None,
        Meta(description="The process is killed, and starts again after so long."),
    ] = None
    clock: Annotated[
        Jump | None, Meta(description="The clock is set forward by so much, or back.")
    ] = None


class Story(CatalogueStruct, frozen=True, kw_only=True):
    """
    The course of events in a stack, and the announcements by time; nothing else may be announced.
    """

    why: Annotated[Text, Meta(description="What it shows, in a sentence.")]
    of: Annotated[list[str], Meta(description="The reasons that it is about.", min_length=1)]
    overlay: Annotated[
        dict[str, Any] | None,
        Meta(description="An overlay of the catalogue, for this story alone."),
    ] = None
    packs: Annotated[
        list[str] | None,
        Meta(description="The packs of the catalogue; those under test unless given."),
    ] = None
    flags: Annotated[
        dict[str, str | int | float | bool],
        Meta(description="Flags of the process that differ from their default, by name."),
    ] = field(default_factory=dict)
    given: Given = Given()
    story: Annotated[list[Step], Meta(description="The steps, in the order of time.")]
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
    notes: Annotated[
        list[str],
        Meta(description="What the log and /status ask to set right, at the end."),
    ] = field(default_factory=list)
    until: Annotated[
        Moment | None,
        Meta(description="When it ends; 15 minutes after the last step unless given."),
    ] = None
    real: Annotated[
        bool, Meta(description="For the tests of this program: it is replayed on a cluster too.")
    ] = False
