"""
The types of what a file of the catalogue declares beside reasons: kinds, and what makes subjects.
"""

from typing import Annotated, TypeAlias, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from reporter.catalogue.subject_definitions import NamespaceScope
from reporter.model.enums import Layer


T = TypeVar("T")
OptionalKey: TypeAlias = T | UnsetType

Text = Annotated[str, Meta(min_length=1, extra={"is": "a text"})]


def doc(description: str) -> Meta:
    """Return the description of a key, for the JSON Schemas and the tables of the README."""
    return Meta(description=description)


def matching(
    pattern: str, is_: str, *, most: int | None = None, examples: list[str] | None = None
) -> Meta:
    """
    Return the form that a text must have. *is_*: the form in words, for the error about another text.

    *most*: the longest length.
    """
    return Meta(pattern=pattern, max_length=most, examples=examples, extra={"is": is_})


class CatalogueStruct(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab", gc=False
):
    """The base of the types of entries and rows, whose keys have hyphens and must all be known."""


KindName = Annotated[
    str, matching(r"^[A-Z][A-Za-z0-9]*$", "a name in CamelCase, such as InferenceService", most=63)
]
ResourceName = Annotated[
    str,
    matching(
        r"^[a-z]([-a-z0-9]*[a-z0-9])?$",
        "a plural in small letters, such as inferenceservices",
        most=63,
    ),
]
GroupName = Annotated[
    str,
    matching(
        r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$",
        "an API group, such as serving.kserve.io",
        most=253,
    ),
]
VersionName = Annotated[
    str, matching(r"^v[0-9]+((alpha|beta)[0-9]+)?$", "a version, such as v1beta1", most=63)
]
NamespaceName = Annotated[
    str, matching(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "the name of a namespace", most=63)
]


class KindEntry(CatalogueStruct, frozen=True, kw_only=True):
    """A kind of the API that is read for reasons with the probe `cel`."""

    kind: Annotated[KindName, doc("Its name in CamelCase, by which reasons refer to it.")]
    name: Annotated[
        OptionalKey[KindName],
        doc(
            "Another name for reasons to refer to, where a kind is declared twice with "
            "different selectors."
        ),
    ] = UNSET
    resource: Annotated[ResourceName, doc("The plural in the address of its objects.")]
    group: Annotated[GroupName, doc("Its API group. Absent: the core group.")] = ""
    version: Annotated[
        OptionalKey[VersionName], doc("Its version. Absent: the one that the API server prefers.")
    ] = UNSET
    observes_generation: Annotated[
        bool,
        doc("false for a kind whose `status.observedGeneration` is not that of its own spec."),
    ] = True
    namespaced: Annotated[bool, doc("false for a kind without namespaces.")] = True
    namespace: Annotated[
        OptionalKey[NamespaceName], doc("The only namespace of which objects are read.")
    ] = UNSET
    label_selector: Annotated[
        OptionalKey[Text], doc("Which objects are read, as for kubectl.")
    ] = UNSET
    field_selector: Annotated[
        OptionalKey[Text], doc("Which objects are read, as for kubectl.")
    ] = UNSET


Prefix = Annotated[str, matching(r"^[a-z]+$", "a word in lower case", most=63)]


class SubjectEntry(CatalogueStruct, frozen=True, kw_only=True):
    """The definition of a layer's subjects: the objects of one kind."""

    layer: Annotated[Layer, doc("The layer; the cluster is a subject by itself.")]
    kind: Annotated[
        Text,
        doc(
            "Each object of this kind is a subject. `Namespace` for harnesses that are namespaces."
        ),
    ]
    about: Annotated[Text, doc("What a subject is, for docs/reasons.md.")]
    prefix: Annotated[
        OptionalKey[Prefix], doc("How its reasons begin. Absent: the kind in lower case.")
    ] = UNSET
    plain: Annotated[
        bool,
        doc(
            "true where subjects are named by their object alone, in labels of Events and in the "
            "status; of others the name is `KIND/NAME`. Only for one kind of each layer."
        ),
    ] = False
    labels: Annotated[dict[str, str], doc("The labels that an object must have.")] = {}
    namespaces: Annotated[
        NamespaceScope,
        doc(
            "The namespaces whose objects count: `all`, `labelled` for those with "
            "`namespace-labels`, or `harness` for those with a harness of this pack."
        ),
    ] = NamespaceScope.ALL
    namespace_labels: Annotated[dict[str, str], doc("The labels that such a namespace has.")] = {}
    name_label: Annotated[
        str, doc("A label whose value is the subject's name. Absent: the object's name.")
    ] = ""
    namespace_label: Annotated[
        str, doc("A label whose value is the subject's namespace. Absent: that of the object.")
    ] = ""
    ended_conditions: Annotated[
        list[str],
        doc("Conditions that are True while it is being deleted, beside a deletionTimestamp."),
    ] = []
    ended_phases: Annotated[list[str], doc("The same: values of its `status.phase`.")] = []
    needs: Annotated[
        list[str], doc("More kinds without which every reason about the subject is Unknown.")
    ] = []
