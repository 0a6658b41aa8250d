"""
Files that would take a parser minutes or all memory: each is refused, with its file and line.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.problems import CatalogueError, Problem
from reporter.catalogue.yaml_nodes import MAX_FILE_BYTES, MAX_VALUES, compose
from reporter.evaluation.registry import SPECS
from reporter.settings import FLAG_NAMES
from tests.support.mounted_file import MountedFile
from tests.unit.catalogue.test_many_problems import letters, reason, reasons


OWN_REASON = """\
  - reason: {name}
    layer: cluster
    type: Warning
    owner: platform
    rank: {rank}
    probe: deployments
    parameters: {{ components: [{{ name: dashboard, namespace-flag: kaito-namespace }}] }}
    message: "{{object}} {{state}}{{pods}}."
    remedy: {{ default: Restart it. }}
"""


def problems_of(folder: Path, text: str) -> list[str]:
    file, problems = folder / "over.yaml", list[Problem]()
    file.write_text(text)
    compose(file, problems)
    return [str(each).removeprefix(f"{folder}/") for each in problems]


def bomb(levels: int) -> str:
    """Return nine aliases of nine aliases, and so on."""
    above = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels))
    return "\n".join(("a0: &a0 [x, x, x, x, x, x, x, x, x]", *above))


def merge_bomb(levels: int) -> str:
    above = (f"a{n}: &a{n} {{ <<: [{', '.join([f'*a{n - 1}'] * 9)}] }}" for n in range(1, levels))
    return "\n".join(("a0: &a0 { x: 1 }", *above))


@pytest.mark.parametrize("text", [bomb(12), merge_bomb(12)], ids=["aliases", "merge keys"])
def test_a_bomb_of_aliases_is_refused_where_it_explodes(tmp_path: Path, text: str):
    (problem,) = problems_of(tmp_path, text)
    assert (
        f"the file has more than {MAX_VALUES} values, counted with what aliases repeat" in problem
    )
    assert problem.startswith("over.yaml:")


def test_a_file_of_ten_megabytes_is_refused_without_being_parsed(tmp_path: Path):
    text = "reasons: {}\n" + "# filler\n" * (10 * 1024 * 1024 // 9)
    assert problems_of(tmp_path, text) == ["over.yaml:1: is larger than 2048 KiB; divide it"]


@pytest.mark.parametrize("is_linked", [False, True])
@pytest.mark.parametrize("name", ["fifo", "/dev/zero"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, name: str, is_linked: bool):
    path, problems = tmp_path / name, list[Problem]()
    if not path.exists():
        os.mkfifo(path)
    if is_linked:
        link = tmp_path / "link.yaml"
        link.symlink_to(path)
        path = link
    # A thread, as nothing else ends a call that blocks.
    reading = threading.Thread(target=compose, args=(path, problems), daemon=True)
    reading.start()
    reading.join(60)
    assert [each.text for each in problems] == ["cannot be read: it is not a regular file"]


def test_the_file_of_a_mounted_configmap_is_read_through_its_links(tmp_path: Path):
    problems: list[Problem] = []
    mounted = MountedFile(tmp_path / "mount", "reasons: {}")
    assert compose(mounted.path, problems) is not None
    assert not problems


@pytest.mark.parametrize("opened", ["[", "{a: ", "- "])
def test_a_file_that_is_nested_too_deep_is_refused(tmp_path: Path, opened: str):
    text = opened * (MAX_FILE_BYTES // len(opened) - 10)
    (problem,) = problems_of(tmp_path, text)
    assert problem.startswith("over.yaml:")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &a [*a]", "over.yaml:1: this alias contains itself; write its value out"),
        ("a: *b", "over.yaml:1: is not YAML: found undefined alias"),
        ("a: [1", "over.yaml:2: is not YAML: did not find expected ',' or ']'"),
        ("a: 1\na: 2", "over.yaml:2: duplicate key `a`, first in line 1; remove one"),
        ("a: !!python/object/apply:os.system [ls]", ""),
        ("<<: 1", "over.yaml:1: `<<` merges mappings; name one, or a list of them"),
        ("\x00", "over.yaml:1: is not YAML"),
    ],
)
def test_an_odd_file_is_refused_in_a_line(tmp_path: Path, text: str, expected: str):
    problems = problems_of(tmp_path, text)
    assert all(problem.startswith(expected) for problem in problems)
    assert bool(problems) == bool(expected)


def test_what_is_not_utf_8_is_refused(tmp_path: Path):
    file, problems = tmp_path / "over.yaml", list[Problem]()
    file.write_bytes(b"a: \xff")
    assert compose(file, problems) is None
    assert [each.text for each in problems] == ["cannot be read: it is not UTF-8"]


def test_more_reasons_than_a_catalogue_may_have_are_refused(refused: Callable[..., list[str]]):
    problems = refused(overlay=reasons(["clusterScalerNotReady"] * 2600))
    assert any("reasons; it may have 2500" in each for each in problems)


def test_thousands_of_reasons_are_refused_in_a_line(tmp_path: Path):
    folder = tmp_path / "many"
    folder.mkdir()
    for file in range(4):
        numbers = range(file * 1000, (file + 1) * 1000)
        entries = (OWN_REASON.format(name=reason(n), rank=1000 + n) for n in numbers)
        (folder / f"{file}.yaml").write_text("reasons:\n" + "".join(entries))
    with pytest.raises(CatalogueError) as refused:
        load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES, packs=[str(folder)])
    (problem,) = refused.value.problems
    assert problem.text == "the catalogue has 4001 reasons; it may have 2500"
    assert problem.place.file == str(folder / "2.yaml")


def test_ten_thousand_changes_of_unknown_reasons_are_all_refused(
    refused: Callable[..., list[str]],
):
    names = ", ".join(f"clusterPart{letters(i)}: {{ rank: 1 }}" for i in range(10_000))
    problems = refused(overlay=f"reasons: {{ {names} }}")
    assert sum("unknown reason" in each for each in problems) == 10_000


def test_a_cycle_of_thousands_of_reasons_is_named_once(refused: Callable[..., list[str]]):
    ring = [*(reason(i) for i in range(1, 1500)), reason(0)]
    cycles = [each for each in refused(overlay=reasons(ring)) if "a cycle" in each]
    assert len(cycles) == 1
    assert len(cycles[0]) < 2000
