"""
Check the suppression rows: their targets exist, are of the same layer or a lower, in no cycle.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter

from msgspec import UNSET

from reporter.catalogue.drafts import Draft, Drafts, KnownNames
from reporter.catalogue.entries import Scope
from reporter.catalogue.format import Suppresses
from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml_nodes import Fields, Items
from reporter.model.enums import EventType, Layer


MAX_SHOWN_OF_A_CYCLE = 20


def check_suppressions(drafts: Drafts, known: KnownNames) -> Iterable[Problem]:
    by_name = {draft.reason: draft for draft in drafts.all}
    for draft in drafts.all:
        for row, place in suppression_rows(draft):
            target = (
                _target_problem(draft, row, by_name, drafts.names)
                if row.reason is not UNSET
                else ""
            )
            for text in (_row_form_problem(row), _scope_problem(draft, row), target):
                if text:
                    yield Problem(place, f"{draft.reason}: suppresses: {text}")
    yield from _check_single_crd_source(drafts)
    yield from _check_cycles(by_name)


def suppression_rows(draft: Draft) -> Iterator[tuple[Suppresses, Place]]:
    """Yield the rows of an entry, each with its line."""
    listed = draft.node.values.get("suppresses")
    items = listed.items if isinstance(listed, Items) else ()
    for row, node in zip(draft.entry.suppresses, items, strict=True):
        place = node.where("reason") if isinstance(node, Fields) else node.place
        yield row, place


def _row_form_problem(row: Suppresses) -> str:
    if (row.reason is UNSET) == row.crd_of:
        return ""
    return "a row names a `reason`, or has `crd-of: true`; write one of the two"


def _scope_problem(source: Draft, row: Suppresses) -> str:
    below = source.entry.layer is not Layer.CLUSTER
    if below and row.scope is Scope.CLUSTER:
        return "a reason of one namespace suppresses none of another; write `scope: namespace`"
    if not below and row.scope is Scope.NAMESPACE:
        return "a reason of the cluster has no namespace; write `scope: cluster`"
    return ""


def _target_problem(
    source: Draft, row: Suppresses, by_name: Mapping[str, Draft], names: frozenset[str]
) -> str:
    name = str(row.reason)
    if name not in names:
        return f"unknown reason `{name}`: {suggest_name(name, names)}"
    if name == source.reason:
        return "a reason cannot suppress itself; remove the row"
    target = by_name.get(name)
    if target is None:
        return ""
    if target.entry.type is EventType.NORMAL:
        return f"{name} is Normal and cannot be suppressed; remove the row"
    if target.entry.layer.order < source.entry.layer.order:
        return f"{name} belongs to the higher layer {target.entry.layer}; remove the row"
    return ""


def _check_single_crd_source(drafts: Drafts) -> Iterable[Problem]:
    found = [(d, place) for d in drafts.all for row, place in suppression_rows(d) if row.crd_of]
    for draft, place in found[1:]:
        first = found[0][0].reason
        text = f"{draft.reason}: suppresses: {first} has `crd-of: true` already; remove this row"
        yield Problem(place, text)


def _check_cycles(by_name: Mapping[str, Draft]) -> Iterable[Problem]:
    """Yield each cycle once, placed at the row of its alphabetically first reason."""
    rows = _rows_before_cycles(by_name)
    found: set[str] = set()
    for start in sorted(rows):
        # One search covers a whole cycle, however long it is.
        path = () if start in found else _find_cycle(start, rows)
        if path:
            found.update(path)
            yield _cycle_problem(_from_first(path), by_name)


def _from_first(cycle: Sequence[str]) -> Sequence[str]:
    """Return a cycle that begins and ends with its alphabetically first reason."""
    names = cycle[:-1]
    first = names.index(min(names))
    return (*names[first:], *names[: first + 1])


def _cycle_problem(cycle: Sequence[str], by_name: Mapping[str, Draft]) -> Problem:
    name, target, *_ = cycle
    row = next(p for r, p in suppression_rows(by_name[name]) if r.reason == target)
    left_out = len(cycle) - MAX_SHOWN_OF_A_CYCLE
    shown = (
        (*cycle[: MAX_SHOWN_OF_A_CYCLE - 1], f"{left_out} more", cycle[-1])
        if left_out > 1
        else cycle
    )
    text = f"suppresses: a cycle: {' > '.join(shown)}; remove one of its rows"
    return Problem(row, f"{name}: {text}")


def _rows_before_cycles(by_name: Mapping[str, Draft]) -> Mapping[str, Sequence[str]]:
    """
    Return the reasons from which rows lead to a cycle, each with the reasons that it suppresses.

    A row to itself is no cycle here. The search is only for these, so its time grows with the
    number of cycles and not with the square of the number of reasons.
    """
    rows = {
        name: [str(row.reason) for row in draft.entry.suppresses if row.reason in by_name]
        for name, draft in by_name.items()
    }
    rows = {name: [each for each in row if each != name] for name, row in rows.items()}
    sorter = TopologicalSorter(rows)
    with suppress(CycleError):
        sorter.prepare()
    while ready := sorter.get_ready():
        sorter.done(*ready)
        for name in ready:
            del rows[name]
    return {name: [each for each in row if each in rows] for name, row in rows.items()}


def _find_cycle(start: str, rows: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the shortest cycle through *start*; empty if there is none."""
    suppressed_by = {start: ""}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        for target in rows[name]:
            if target == start:
                return (*_path_to(name, suppressed_by), start)
            if target not in suppressed_by:
                suppressed_by[target] = name
                queue.append(target)
    return ()


def _path_to(name: str, suppressed_by: Mapping[str, str]) -> Sequence[str]:
    path = [name]
    while suppressed_by[path[-1]]:
        path.append(suppressed_by[path[-1]])
    return path[::-1]
