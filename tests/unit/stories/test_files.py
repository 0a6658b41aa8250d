"""Story files that cannot be read: each problem has its file and line."""

from pathlib import Path

import pytest

from reporter.catalogue.problems import Problem
from reporter.stories.files import find_files, read_stories
from tests.support.written_stories import STORY, problems_of, read_written, write


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "of: [", "off: [", "router.yaml:2: unknown key `off`: did you mean `of`?", id="a key"
        ),
        pytest.param(
            "of: [clusterBBRNotReady]", "of: []", "router.yaml:2: `of` is a list", id="none"
        ),
        pytest.param(
            "at: 1m",
            "at: soon",
            "router.yaml:4: `story[0].at` is `soon`; it must be a duration such as 90s, 5m or 1h30m",
            id="a time",
        ),
        pytest.param(
            "at: 1m",
            "at: 9999h",
            "router.yaml:4: at: `9999h` is longer than 7 days",
            id="too long",
        ),
        pytest.param(
            "  1m: Warning",
            "  later: Warning",
            "router.yaml:8: announced: `later` is no",
            id="when",
        ),
        pytest.param(
            "Deployment kaito",
            "Deploiment kaito",
            "router.yaml:6: `Deploiment kaito-system/body-based-router`: known kinds are",
            id="a kind",
        ),
        pytest.param(
            "kaito-system/body-based-router:",
            "kaito-system/:",
            "router.yaml:6: `Deployment kaito-system/` is no object",
            id="no name",
        ),
        pytest.param(
            "{ replicas: 0 }",
            "{ replica: 0 }",
            "router.yaml:6: Deployment kaito-system/body-based-router: unknown key `replica`:"
            " did you mean `replicas`?",
            id="a word of an object",
        ),
        pytest.param(
            "{ replicas: 0 }",
            "{ replicas: none }",
            "`replicas` is `none`; it must be a whole number, 0 or more",
            id="a value of an object",
        ),
        pytest.param(
            "announced:",
            "  - at: 30s\nannounced:",
            "router.yaml:7: `at` is before that of the step above; sort the steps",
            id="an earlier step",
        ),
        pytest.param(
            "    change:",
            "    pages: { Pod team-m/qwen-7rk2p-0: { sped: 1 } }\n    change:",
            "unknown key `story[0].pages.Pod team-m/qwen-7rk2p-0.sped`",
            id="a word of a page",
        ),
    ],
)
def test_a_problem_of_a_story_has_its_line(tmp_path: Path, old: str, new: str, expected: str):
    problems = problems_of(tmp_path, STORY.replace(old, new, 1))
    assert any(expected in problem for problem in problems), problems


def test_all_problems_of_a_story_are_named_at_once(tmp_path: Path):
    text = STORY.replace("of: [", "off: [").replace("at: 1m", "at: soon").replace("why:", "wy:")
    assert {problem.partition(": ")[0] for problem in problems_of(tmp_path, text)} == {
        "router.yaml:1",
        "router.yaml:2",
        "router.yaml:4",
    }


def test_null_takes_a_word_or_an_object_back(tmp_path: Path):
    text = STORY.replace("{ replicas: 0 }", "{ replicas: null }")
    assert read_written(tmp_path, text).content["story"][0]["change"]
    read_written(tmp_path, STORY.replace("{ replicas: 0 }", "null"))


def test_a_merge_key_adds_the_words_of_another_mapping(tmp_path: Path):
    text = STORY.replace("{ replicas: 0 }", "{ <<: &zero { replicas: 0, ready: 0 }, ready: 1 }")
    change = read_written(tmp_path, text).content["story"][0]["change"]
    assert change == {"Deployment kaito-system/body-based-router": {"replicas": 0, "ready": 1}}


def test_a_folder_stands_for_its_files_and_an_empty_one_is_a_problem(tmp_path: Path):
    (tmp_path / "none").mkdir()
    (tmp_path / "some").mkdir()
    files = [write(tmp_path / "some", name=name) for name in ("one.yaml", "two.yaml")]
    problems: list[Problem] = []
    assert find_files([tmp_path / "some", files[0], tmp_path / "none"], problems) == tuple(files)
    assert [each.text for each in problems] == ["there is no *.yaml in this folder"]


def test_two_files_of_one_name_are_a_problem(tmp_path: Path):
    problems: list[Problem] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(tmp_path / name)
    files = [tmp_path / name / "router.yaml" for name in ("one", "two")]
    assert list(read_stories(files, problems)) == ["router"]
    assert [each.place.file for each in problems] == [str(files[1])]


def test_a_missing_file_is_a_problem(tmp_path: Path):
    problems: list[Problem] = []
    assert not read_stories(find_files([tmp_path / "none.yaml"], problems), problems)
    assert "cannot be read: No such file" in problems[0].text
