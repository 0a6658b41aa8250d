"""Render the entry of a reason in the catalogue, and the chain from a symptom to its root."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from textwrap import wrap

from reporter.catalogue.entries import Catalogue, CatalogueEntry, Scope
from reporter.model.enums import Reason, TroubleKind
from reporter.process.log_format import one_line
from reporter.status.detail_table import field
from reporter.status.table import format_age


WIDTH = 100
INDENT = "  "
STEP = "↳ "

STACK = "the control plane of the stack"
NEEDS_CRD = "Its probe needs the missing CRD."


class EntryText:
    """The texts about reasons of one catalogue. *grace*: the startup grace, for their holds."""

    def __init__(self, catalogue: Catalogue, *, grace: timedelta) -> None:
        self._catalogue, self._grace = catalogue, grace

    def render(self, reason: Reason) -> Iterator[str]:
        """
        Yield the entry of a reason: its layer, rank, holds, remedies, steps and suppressions.

        A reason of readiness has its meaning alone. Raises KeyError for a reason that is not in the
        catalogue.
        """
        entry = self._catalogue[reason]
        yield field("Reason", reason)
        yield field("Layer", f"{entry.layer}: about {self._subject(entry)}")
        yield field("Type", entry.type)
        if entry.is_ready_reason:
            yield from self._paragraph("Meaning", entry.meaning)
            return
        yield field(
            "Rank", "none: announced on its own" if entry.rank is None else str(entry.rank)
        )
        yield field("Owner", f"{entry.owner}: must act")
        yield field("Enabled", "yes" if entry.enabled else "no: an overlay switches it on")
        yield field("Holds", self._holds(entry))
        yield from self._paragraph("Meaning", entry.meaning)
        yield from self._list("Remedies", self._remedies(entry))
        yield from self._list("What to do", self._steps(entry))
        yield from self._list("Suppresses", self._targets(reason))
        yield from self._list("Suppressed by", self._sources(reason))

    def _subject(self, entry: CatalogueEntry) -> str:
        rule = self._catalogue.subject_definitions.find(entry.layer, entry.subject_kind)
        if rule is None:
            return STACK
        return rule.about or f"one {rule.kind.kind}"

    def _holds(self, entry: CatalogueEntry) -> str:
        ages = {kind: entry.holds.for_kind(kind, grace=self._grace) for kind in TroubleKind}
        texts = (f"{kind} {format_age(int(age.total_seconds()))}" for kind, age in ages.items())
        return ", ".join(texts)

    def _remedies(self, entry: CatalogueEntry) -> Iterator[str]:
        for text in dict.fromkeys(entry.remedies.values()):
            codes = (code for code, each in entry.remedies.items() if each == text)
            yield f"{', '.join(codes)}: {text}"

    def _steps(self, entry: CatalogueEntry) -> Iterator[str]:
        steps = enumerate(entry.runbook, start=1)
        yield from (f"{number}. {step}" for number, step in steps)

    def _targets(self, reason: Reason) -> Iterator[str]:
        catalogue = self._catalogue
        if catalogue.is_missing_crd_enabled and reason == catalogue.missing_crd_reason:
            yield "every reason whose probe needs the missing CRD"
        for row in catalogue.suppressions:
            if row.enabled and row.source == reason:
                yield f"{row.target} ({_where(row.scope)}): {row.why}"

    def _sources(self, reason: Reason) -> Iterator[str]:
        catalogue = self._catalogue
        for row in catalogue.suppressions:
            if row.enabled and row.target == reason:
                yield f"{row.source} ({_where(row.scope)}): {row.why}"
        crds = sorted(self._catalogue.required_crds(reason))
        if crds and catalogue.is_missing_crd_enabled and catalogue.missing_crd_reason:
            yield f"{catalogue.missing_crd_reason}, of {', '.join(crds)}"

    def render_chain(self, reasons: Sequence[str]) -> Iterator[str]:
        """
        Yield the way from a symptom, the first of *reasons*, to its root, the last; with why each follows.
        """
        yield one_line(reasons[0]) + (" (the symptom)" if len(reasons) > 1 else "")
        for depth, (target, source) in enumerate(pairwise(reasons), start=1):
            is_root = depth == len(reasons) - 1
            root = " (the root)" if is_root else ""
            yield f"{INDENT * depth}{STEP}because of {one_line(source)}{root}"
            yield from wrap(
                self._why(source, target),
                WIDTH,
                initial_indent=INDENT * (depth + 1),
                subsequent_indent=INDENT * (depth + 1),
            )

    def _why(self, source: str, target: str) -> str:
        rows = self._catalogue.suppressions
        known = [row.why for row in rows if (row.source, row.target) == (source, target)]
        if known:
            return known[0]
        if source == self._catalogue.missing_crd_reason:
            return NEEDS_CRD
        return "This catalogue has no such row; the reporter's may have."

    def meaning(self, reason: str) -> Iterator[str]:
        """
        Yield the meaning of a reason under its heading, wrapped; nothing for a reason without a text.
        """
        entry = self._catalogue.entries.get(Reason(reason))
        yield from self._paragraph("Meaning", entry.meaning if entry is not None else "")

    def _paragraph(self, label: str, text: str) -> Iterator[str]:
        if text:
            yield f"{label}:"
            lines = wrap(" ".join(text.split()), WIDTH - len(INDENT))
            yield from (INDENT + one_line(line) for line in lines)

    def _list(self, label: str, items: Iterator[str]) -> Iterator[str]:
        for number, item in enumerate(items):
            if not number:
                yield f"{label}:"
            yield from wrap(
                one_line(" ".join(item.split())),
                WIDTH,
                initial_indent=INDENT,
                subsequent_indent=INDENT * 2,
            )


def _where(scope: Scope) -> str:
    return "everywhere" if scope is Scope.CLUSTER else "in the same namespace"
