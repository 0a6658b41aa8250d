"""Let probes prepare the parameters of their entries, and place the problems that they find."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from reporter.catalogue.drafts import Draft, Drafts
from reporter.catalogue.entries import ProbeSpec
from reporter.catalogue.preparation import GivenEntry, ParameterProblem
from reporter.catalogue.problems import Place, Problem
from reporter.catalogue.yaml_nodes import Fields, Scalar
from reporter.kinds.declared import DeclaredKind
from reporter.model.enums import Reason


def prepare_drafts(
    drafts: Drafts,
    specs: Mapping[str, ProbeSpec],
    kinds: Mapping[str, DeclaredKind],
    problems: list[Problem],
) -> Drafts:
    """Return the drafts with the parameters that their probes made of them."""
    prepared: dict[int, Draft] = {}
    for spec in specs.values():
        entries = [(i, each) for i, each in enumerate(drafts.all) if each.spec is spec]
        if spec.prepare is None or not entries:
            continue
        given = [each for _, each in entries]
        found = spec.prepare([_given_entry(each) for each in given], kinds)
        problems += [_place(problem, given) for problem in found.problems]
        if not found.problems:
            for (i, each), parameters in zip(entries, found.parameters, strict=True):
                prepared[i] = replace(each, parameters=parameters)
    made = tuple(prepared.get(i, each) for i, each in enumerate(drafts.all))
    return replace(drafts, all=made)


def _given_entry(draft: Draft) -> GivenEntry:
    return GivenEntry(
        Reason(draft.reason),
        draft.entry.layer,
        draft.parameters,
        lambda key: str(_place_of(draft, key)),
        draft.enabled,
        draft.rule,
    )


def _place(problem: ParameterProblem, drafts: Sequence[Draft]) -> Problem:
    draft = drafts[problem.entry]
    where = f"parameters: {problem.key}: " if problem.key else "probe: "
    place = _place_of(draft, problem.key, problem.line, problem.column)
    return Problem(place, f"{draft.reason}: {where}{problem.text}")


def _place_of(draft: Draft, key: str, line: int = 0, column: int = 0) -> Place:
    """Return the place of a key of the parameters, or that of a character of its text."""
    if not key:
        return draft.where("probe")
    parameters = draft.node.values.get("parameters")
    value = parameters.values.get(key) if isinstance(parameters, Fields) else None
    if line and isinstance(value, Scalar) and value.source is not None:
        return Place(value.place.file, *value.source.locate(line, column))
    return draft.where("parameters", key)
