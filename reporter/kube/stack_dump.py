"""
The format of the command ``dump``: YAML documents of one line each, whose content is JSON. Pure.

So a line is read by itself, a hundred times faster than YAML. The first line begins a dump, the last one ends
it and says what was read: a file without that was cut off.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.decoding import Json, decode_json
from reporter.model.observations import DiscoveryResult


API_VERSION = "reporter.productionstack.kaito.sh/v1alpha1"
BEGIN, END = "StackDump", "StackDumpEnd"
"""The kinds of the first and the last document, which no API server has."""

DOCUMENT = b"--- "
BEGINNING = b'--- {"apiVersion":"%b","kind":"%b"' % (API_VERSION.encode(), BEGIN.encode())
_JSON = msgspec.json.Decoder(Any)
_NOT_ASCII = re.compile(r"[^ -~]")


class DumpedKind(Struct, frozen=True, rename="camel", omit_defaults=True):
    """
    A kind that a dump has, with or without objects, or has not.

    *namespace*, *label_selector*, *field_selector*: the limits of its watch. *objects*: how many there are.
    *only_in*: the namespace of which alone it was read. *unread*: why it was not; empty if it was.
    """

    resource: str
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""
    objects: int = 0
    only_in: str = ""
    not_served: bool = False
    unread: str = ""

    @property
    def limits(self) -> tuple[str, str, str]:
        """The limits of its watch; empty for a kind of which every object was asked for."""
        return self.namespace, self.label_selector, self.field_selector


class DumpEnd(Struct, frozen=True, rename="camel", omit_defaults=True):
    """
    The last document: what was read, and what the API server serves.

    *taken_at*: when the last list was read. *groups*: the API groups that were discovered.
    *flags*: those of the cluster's reporter that decide what is evaluated. *silences*: the text of its
    file of silences. *missing_files*: its flags that name files which are not in the dump.
    """

    taken_at: Annotated[datetime, Meta(tz=True)]
    kinds: tuple[DumpedKind, ...] = ()
    groups: tuple[str, ...] = ()
    failed_groups: tuple[str, ...] = ()
    served: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    namespaced: Mapping[str, bool] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    silences: str = ""
    missing_files: tuple[str, ...] = ()

    def find(self, kind: ResourceKind) -> DumpedKind | None:
        """Return what is said of a kind; None if the dump was made without it, or with less of it."""
        wanted = limits_of(kind)
        return next(
            (
                each
                for each in self.kinds
                if each.resource == kind.group_resource and each.limits in (("", "", ""), wanted)
            ),
            None,
        )

    def discovery_of(self, crds: frozenset[str]) -> DiscoveryResult:
        """
        Return the result of discovery when the dump was taken, for these *crds*.

        Groups of theirs that the dump did not ask for count as failed, as nothing is known of them.
        """
        not_asked = {crd.partition(".")[2] for crd in crds} - {*self.groups}
        return DiscoveryResult(
            self.served, frozenset({*self.failed_groups, *not_asked}), self.namespaced
        )


def limits_of(kind: ResourceKind) -> tuple[str, str, str]:
    """Return the limits of a kind's watch, as `DumpedKind.limits`."""
    name = f"metadata.name={kind.object_name}" if kind.object_name else ""
    return kind.namespace, kind.label_selector, name or kind.field_selector


# --------------------------------------------------------------------
# Write and read lines.


def render_begin(program: str) -> bytes:
    """Return the first line of a dump. *program*: the name and version of its writer, for people."""
    return render_line({"apiVersion": API_VERSION, "kind": BEGIN, "writtenBy": program})


def render_end(end: DumpEnd) -> bytes:
    """Return the last line of a dump, as bytes of one YAML document."""
    return render_line({"apiVersion": API_VERSION, "kind": END, **msgspec.to_builtins(end)})


def render_line(content: Json) -> bytes:
    """Return a document. What a terminal would interpret, or YAML refuses, is escaped as JSON allows."""
    text = msgspec.json.encode(content)
    if not text.isascii() or b"\x7f" in text:
        text = _NOT_ASCII.sub(_escape, text.decode()).encode()
    return DOCUMENT + text + b"\n"


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return char if char.isprintable() or ord(char) > 0xFFFF else f"\\u{ord(char):04x}"  # noqa: PLR2004


def is_stack_dump(raw: bytes) -> bool:
    """Return whether a text begins as a dump does, or is a part of that beginning."""
    return raw.startswith(BEGINNING) or (bool(raw) and BEGINNING.startswith(raw))


def find_cut(raw: bytes) -> int | None:
    """Return the number of the line at which a dump was cut off; None for one with its end."""
    text = raw.rstrip(b"\n")
    return None if _kind_of(text.rpartition(b"\n")[2]) == END else text.count(b"\n") + 1


def read_lines(raw: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number of each line, and its content or the DecodeError of a line that has none."""
    for number, line in enumerate(raw.splitlines(), 1):
        text = line.removeprefix(DOCUMENT)
        if text == line:
            yield number, msgspec.DecodeError("it does not begin with ---")
            continue
        try:
            yield number, decode_json(_JSON, text)
        except msgspec.DecodeError as err:
            yield number, err


def parse_end(content: Mapping[str, Any]) -> DumpEnd:
    """Return what the last document says. Raises msgspec.ValidationError for one of another form."""
    return msgspec.convert(content, DumpEnd)


def kind_of(content: Any) -> str:
    """Return BEGIN or END for a document that begins or ends a dump; empty for any other."""
    if not isinstance(content, Mapping) or content.get("apiVersion") != API_VERSION:
        return ""
    return kind if (kind := content.get("kind")) in (BEGIN, END) else ""


def _kind_of(line: bytes) -> str:
    return next((kind_of(content) for _, content in read_lines(line)), "")
