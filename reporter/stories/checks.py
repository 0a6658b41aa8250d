"""Check without a replay that a story can run: its packs, flags, overlay, reasons and watches."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.loader import default_folder
from reporter.catalogue.overlay import find_packs
from reporter.catalogue.problems import CatalogueError, Problem, suggest_name
from reporter.catalogue.yaml_nodes import Fields, to_plain
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.evaluation.registry import SPECS
from reporter.model.enums import DetailSource
from reporter.settings.parsers import choice_set_parser
from reporter.stories.catalogues import STORY, StoryCatalogues, flag_errors, story_settings
from reporter.stories.files import StoryFile, steps_of
from reporter.stories.format import START, StoryError
from reporter.stories.story_replay import check_watched, parse_watch_state


ALL_SOURCES = frozenset(DetailSource)


class _Names(NamedTuple):
    """The reasons and the watched resources that a story may name."""

    reasons: Collection[str]
    resources: Collection[str]


def check_story(story: StoryFile, catalogues: Sequence[StoryCatalogues]) -> Sequence[Problem]:
    """
    Return why a story can run with none of these catalogues; nothing if it can with one.

    They differ by the overlay, or the packs, that the story may be meant for. Of several, the one
    with the fewest problems counts.
    """
    flags = [Problem(story.place_of(each, -1), str(each)) for each in flag_errors(story.content)]
    best: list[Problem] | None = None
    for each in catalogues:
        found = _problems_with(story, each, has_flags=not flags)
        if found is not None and (best is None or len(found) < len(best)):
            best = found
        if best == []:
            break
    return [*_unknown_packs(story), *flags, *(best or ())]


def unknown_reasons(story: StoryFile, known: Collection[str]) -> Iterator[Problem]:
    """
    Yield a problem for each name in the story's list of reasons that *known* lacks, with the nearest.
    """
    for reason in story.content["of"]:
        if reason not in known:
            offer = suggest_name(reason, known)
            yield Problem(story.root.where("of"), f"of: unknown reason `{reason}`: {offer}")


def placed(story: StoryFile, problem: Problem) -> Problem:
    """Return a problem of a catalogue; one of an overlay in a story gets that line of the story's file."""
    if problem.place != STORY:
        return problem
    return Problem(story.root.where("overlay"), f"overlay: {problem.text}")


def _unknown_packs(story: StoryFile) -> Iterator[Problem]:
    found: list[Problem] = []
    find_packs(default_folder(), story.content.get("packs") or (), found)
    yield from (Problem(story.root.where("packs"), f"packs: {each.text}") for each in found)


def _problems_with(
    story: StoryFile, catalogues: StoryCatalogues, *, has_flags: bool
) -> list[Problem] | None:
    """
    Return what is wrong with the names of a story; None if its packs do not go with the overlay.

    *has_flags*: its flags can be read.
    """
    content = story.content
    found: list[Problem] = []
    try:
        names = _names(content, catalogues.of(content), has_flags=has_flags)
    except CatalogueError as err:
        plain = _load(catalogues, {**content, "overlay": None})
        if plain is None:
            # An overlay that is refused with any packs may hold what the story names.
            return None if _load(catalogues, {}) else []
        found += (placed(story, each) for each in err.problems)
        names = _names_with(content.get("overlay") or {}, plain)
    return [
        *found,
        *unknown_reasons(story, names.reasons),
        *_wrong_watches(story, names.resources),
    ]


def _load(catalogues: StoryCatalogues, content: Mapping[str, Any]) -> Catalogue | None:
    try:
        return catalogues.of(content)
    except CatalogueError:
        return None


def _names(content: Mapping[str, Any], catalogue: Catalogue, *, has_flags: bool) -> _Names:
    sources: Collection[DetailSource] = ALL_SOURCES
    if has_flags:
        flags = story_settings(content).flag_texts
        sources = choice_set_parser(DetailSource)(flags["sources"])
    kinds = kinds_to_watch(catalogue, sources)
    return _Names(catalogue.entries, [kind.resource for kind in kinds])


def _names_with(overlay: Mapping[str, Any], catalogue: Catalogue) -> _Names:
    """
    Return all names that there may be with an overlay that is refused, also of what it disables.
    """
    kinds = {
        kind.resource
        for entry in catalogue.entries.values()
        if entry.probe
        for kind in SPECS[entry.probe].bound(entry.parameters).watched_kinds(ALL_SOURCES)
    }
    kinds |= {kind.resource for kind in kinds_to_watch(catalogue, ALL_SOURCES)}
    return _Names(
        {*catalogue.entries, *_named(overlay, "add", "reason")},
        sorted({*kinds, *_named(overlay, "kinds", "resource")}),
    )


def _named(overlay: Mapping[str, Any], key: str, name: str) -> Iterator[str]:
    listed = overlay.get(key)
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, Mapping) and name in each:
            yield str(each[name])


def _wrong_watches(story: StoryFile, resources: Collection[str]) -> Iterator[Problem]:
    for step in steps_of(story.root):
        watches = step.values.get("watch")
        if not isinstance(watches, Fields):
            continue
        for resource, state in watches.values.items():
            try:
                check_watched(resource, resources)
                parse_watch_state(str(to_plain(state)), now=START)
            except StoryError as err:
                yield Problem(watches.where(resource), str(err))
