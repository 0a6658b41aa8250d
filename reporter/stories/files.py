"""Find and read the files of stories."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import Struct

from reporter.catalogue.loader import default_folder
from reporter.catalogue.overlay import find_packs
from reporter.catalogue.parsed_entries import entry_sources
from reporter.catalogue.problems import Place, Problem
from reporter.catalogue.yaml_nodes import Fields, Items, YamlNode, compose, to_plain
from reporter.catalogue.yaml_reader import read, readable_keys
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.stories.format import Story, StoryError, parse_duration
from reporter.stories.objects import API_FIELDS
from reporter.stories.schema import NOTATIONS


KINDS = frozenset(kind.kind for kind in (*DEFAULT_KINDS, *OPTIONAL_KINDS))


class StoryFile(Struct, frozen=True):
    """A story that was read. *content*: its keys and values. *root*: the same with lines, for problems."""

    path: Path
    content: Mapping[str, Any]
    root: Fields

    @property
    def name(self) -> str:
        """The name of the file without its suffix, by which reports name the story."""
        return self.path.stem

    def place_of(self, error: StoryError, step: int) -> Place:
        """
        Return the line of an error: that of a step, or that of its key for a negative number.
        """
        steps = self.root.items_of("story")
        return steps[step].place if steps and step >= 0 else self.root.where(error.key)


def find_files(paths: Iterable[Path], problems: list[Problem]) -> Sequence[Path]:
    """
    Return the files that *paths* name: a folder stands for the ``*.yaml`` in it, without its folders.

    One without any is added to *problems*. Files that do not exist are returned, too.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            files = sorted(path.glob("*.yaml"))
            if not files:
                problems.append(Problem(Place(str(path), 1), "there is no *.yaml in this folder"))
            found |= dict.fromkeys(files)
        else:
            found[path] = None
    return tuple(found)


def read_stories(
    files: Iterable[Path], problems: list[Problem], kinds: Collection[str] = ()
) -> Mapping[str, StoryFile]:
    """
    Return the stories by the names of their files, and add to *problems* why others cannot be read.

    Of several files of one name the first counts, and each other one is a problem. *kinds*: the names of
    the kinds that the catalogue declares.
    """
    stories: dict[str, StoryFile] = {}
    for file in files:
        story = read_story(file, problems, kinds)
        if story is None:
            continue
        other = stories.setdefault(story.name, story)
        if other is not story:
            text = f"{other.path} has the name {story.name} as well; rename one of the two"
            problems.append(Problem(Place(str(file), 1), text))
    return stories


def read_story(
    file: Path, problems: list[Problem], kinds: Collection[str] = ()
) -> StoryFile | None:
    """Return the story of a file, or None after adding all that is wrong with it to *problems*."""
    found: list[Problem] = []
    story = read_readable(file, found, kinds)
    problems += found
    return None if found else story


def read_readable(
    file: Path, problems: list[Problem], kinds: Collection[str] = ()
) -> StoryFile | None:
    """
    Return as much of a story as can be read, after adding what is wrong with its form to *problems*.

    Its content has the keys that are right. None if the file is no mapping, or cannot be read.
    """
    root = compose(file, problems)
    is_whole = root is not None and read(root, Story, problems) is not None
    if not isinstance(root, Fields):
        return None
    declaring = (root.values.get("overlay"), *roots_of_packs(_packs_of(file, root)))
    known = KINDS.union(kinds, *map(declared_kinds, declaring))
    problems += chain.from_iterable(_check_step(step, known) for step in steps_of(root))
    problems += _check_times(root)
    content = to_plain(root if is_whole else readable_keys(root, Story))
    content = {"of": [], **content}
    packs = _packs_of(file, root)
    return StoryFile(file, {**content, "packs": packs} if packs else content, root)


def _check_times(root: Fields) -> Iterator[Problem]:
    """Yield the times that are none, and the steps that come before the one above them."""
    for key in ("announced", "status"):
        times = root.values.get(key)
        if not isinstance(times, Fields):
            continue
        for text in times.values:
            try:
                parse_duration(text)
            except StoryError as err:
                yield Problem(times.where(text), f"{key}: {err}")
    last = timedelta(0)
    for step in root.items_of("story"):
        text = (
            to_plain(step.values["at"]) if isinstance(step, Fields) and "at" in step.values else ""
        )
        if not isinstance(text, str) or not text:
            continue  # which its form says already
        try:
            at = parse_duration(text)
        except StoryError as err:
            yield Problem(step.place, f"at: {err}")
            continue
        if at < last:
            yield Problem(step.place, "`at` is before that of the step above; sort the steps")
        last = at


def steps_of(root: Fields) -> Iterator[Fields]:
    """Yield the mapping under given, and each step of the story; skip what is no mapping."""
    for each in (root.values.get("given"), *root.items_of("story")):
        if isinstance(each, Fields):
            yield each


def _packs_of(file: Path, root: YamlNode) -> list[str]:
    """
    Return the packs that a story names; without any, the pack in whose folder ``stories`` it is.
    """
    named = root.values.get("packs") if isinstance(root, Fields) else None
    if isinstance(named, Items):
        return [str(each) for each in to_plain(named)]
    pack = file.absolute().parent.parent
    is_of_pack = file.absolute().parent.name == "stories" and (pack / "pack.yaml").is_file()
    return [str(pack)] if is_of_pack else []


def roots_of_packs(names: Sequence[str]) -> Iterator[YamlNode]:
    """Yield the root node of each YAML file of these packs; what cannot be read or found is left out."""
    for pack in find_packs(default_folder(), names, []):
        roots = (compose(file, []) for file in sorted(pack.folder.glob("*.yaml")))
        yield from (root for root in roots if root is not None)


def declared_kinds(root: YamlNode | None) -> Iterator[str]:
    """Yield the names of the kinds that a file, or the overlay of a story, declares."""
    for source in entry_sources(root, "kinds"):
        named = to_plain(source.node)
        yield str(named.get("name") or named.get("kind"))


def _check_step(step: Fields, known: Collection[str]) -> Iterator[Problem]:
    changes = step.values.get("change")
    if not isinstance(changes, Fields):
        return
    for address, node in changes.values.items():
        kind, _, name = address.partition(" ")
        if kind not in known:
            text = f"`{address}`: known kinds are {', '.join(sorted(known))}"
            yield Problem(changes.where(address), text)
        elif not name.rpartition("/")[2]:
            text = f"`{address}` is no object such as `Deployment kaito-system/router`"
            yield Problem(changes.where(address), text)
        else:
            yield from _check_words(kind, address, node)


def _check_words(kind: str, address: str, node: YamlNode) -> Iterator[Problem]:
    """
    Yield what is wrong with the words of an object that is not described as the API shows it.
    """
    type_ = NOTATIONS.get(kind)
    if type_ is None or not isinstance(node, Fields) or API_FIELDS & node.values.keys():
        return
    problems: list[Problem] = []
    read(node, type_, problems)
    yield from (Problem(each.place, f"{address}: {each.text}") for each in problems)
