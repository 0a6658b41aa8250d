"""Stories that pass, that differ, and that cannot be run."""

from pathlib import Path

import pytest

from reporter.stories.catalogues import StoryCatalogues
from reporter.stories.runner import StoryResult
from tests.support.written_stories import STORY, refused, run


def passed(folder: Path, text: str = STORY, *catalogues: StoryCatalogues) -> StoryResult:
    found = run(folder, text, *catalogues)
    assert isinstance(found, StoryResult), found
    return found


def test_a_story_that_is_as_expected_passes(tmp_path: Path):
    result = passed(tmp_path)
    assert result.passed
    assert result.announced == {"clusterBBRNotReady": frozenset({"ScaledToZero"})}


def test_another_time_is_a_difference_with_both_lines(tmp_path: Path):
    result = passed(tmp_path, STORY.replace("  1m: W", "  2m: W"))
    (difference,) = result.differences
    assert difference.lines[:2] == ("--- announced: expected", "+++ announced: found")
    begins = [line.partition(" clusterBBR")[0] for line in difference.lines[3:]]
    assert begins == ["-2m Warning", "+1m Warning"]


@pytest.mark.parametrize(
    ("more", "part", "line"),
    [
        (
            "status: { 2m: { cluster: Current } }\n",
            "status",
            "+2m cluster: Failed: clusterBBRNotReady",
        ),
        (
            "status: { 2m: { team-x: Current } }\n",
            "status",
            "+2m team-x: there is no such subject",
        ),
        ("notes: [Look at it.]\n", "notes", "-Look at it."),
    ],
)
def test_what_else_a_story_expects_is_compared(tmp_path: Path, more: str, part: str, line: str):
    (difference,) = passed(tmp_path, STORY + more).differences
    assert difference.part == part
    assert any(each.startswith(line) for each in difference.lines), difference.lines


def test_the_holds_follow_the_flags_of_a_story(tmp_path: Path):
    story = """\
why: What is starting is held for the startup grace, and settles once it is back for a while.
of: [clusterBBRNotReady]
flags: { startup-grace-seconds: 20, settle-seconds: 5 }
story:
  - at: 1m
    change: { Deployment kaito-system/body-based-router: { ready: 0, available: 0 } }
  - at: 3m
    change: { Deployment kaito-system/body-based-router: { ready: 2, available: 2 } }
announced:
  1m20s: Warning clusterBBRNotReady Namespace/kaito-system…
  3m5s: Normal clusterReady Namespace/kube-system…
"""
    assert passed(tmp_path, story).differences == ()


def test_the_overlay_of_a_story_is_in_effect(tmp_path: Path):
    quiet = STORY.replace("announced:\n", "announced: {}\n").rpartition("  1m:")[0]
    overlay = "overlay: { reasons: { clusterBBRNotReady: { enabled: false } } }\n"
    assert passed(tmp_path, quiet + overlay).passed
    assert not passed(tmp_path, quiet).passed


def test_the_overlay_under_test_is_in_effect_below_that_of_the_story(tmp_path: Path):
    overlay = tmp_path / "overlay.yml"
    overlay.write_text("reasons: { clusterBBRNotReady: { hold: { declared: 5m } } }")
    catalogues = StoryCatalogues(overlay)
    assert passed(tmp_path, STORY.replace("  1m: W", "  6m: W"), catalogues).passed
    own = "overlay: { reasons: { clusterBBRNotReady: { hold: { declared: 2m } } } }\n"
    assert passed(tmp_path, STORY.replace("  1m: W", "  3m: W") + own, catalogues).passed


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "of: [clusterBBRNotReady]",
            "of: [clusterBBRNotRedy]",
            "router.yaml:2: of: unknown reason `clusterBBRNotRedy`: did you mean",
            id="a reason",
        ),
        pytest.param(
            "announced:",
            "overlay: { reasons: { clusterX: {} } }\nannounced:",
            "router.yaml:7: overlay: unknown reason `clusterX`",
            id="an overlay",
        ),
        pytest.param(
            "announced:",
            "flags: { bbr-namespac: x }\nannounced:",
            "router.yaml:7: flags: --bbr-namespac: there is no such flag",
            id="a flag",
        ),
        pytest.param(
            "announced:",
            "  - { at: 2m, watch: { secrets: lost } }\nannounced:",
            "router.yaml:7: watch: secrets is not watched; watched are",
            id="a watch",
        ),
        pytest.param(
            "announced:",
            "  - { at: 2m, watch: { pods: gone } }\nannounced:",
            "router.yaml:7: watch: `gone` is none of open, lost, forbidden, unserved",
            id="a state of a watch",
        ),
        pytest.param(
            "announced:",
            "  - { at: 2m, change: { Workspace team-m/w: {} } }\nannounced:",
            "router.yaml:7: Workspace team-m/w: a Workspace names its InferenceSet: `of: NAME`",
            id="an object that lacks a word",
        ),
        pytest.param(
            "announced:",
            "  - { at: 2m, change: { Pod team-m/qwen: { model: qwen } } }\nannounced:",
            "router.yaml:7: Pod team-m/qwen: a pod with `model` is named <workspace>-<index>",
            id="the name of a pod",
        ),
        pytest.param(
            "announced:",
            "  - { at: 2m, change: { InferenceSet team-m/x: { spec: { replicas: [] } } } }\nannounced:",
            "router.yaml:7: InferenceSet team-m/x: Expected `int | null`, got `array`",
            id="an object of another shape",
        ),
        pytest.param(
            "announced:",
            "  - { at: 2m, change: { 'Pod team-m/x-{1..99999}-a': {} } }\nannounced:",
            "stands for more than 10000 objects",
            id="too many objects",
        ),
        pytest.param(
            "announced:",
            "  - { at: 2m, pages: { Pod team-m/qwen-7rk2p-0: { page: vlm } } }\nannounced:",
            "router.yaml:7: there is no page `vlm`; known are",
            id="a page",
        ),
        pytest.param(
            "announced:",
            "  - { at: 2m, pages: { Pod team-m/qwen-7rk2p-0: { left: much } } }\nannounced:",
            "router.yaml:7: `much` is no amount such as 40 GB or 3.5 MB/s",
            id="an amount",
        ),
    ],
)
def test_a_story_that_cannot_be_run_names_the_line(
    tmp_path: Path, old: str, new: str, expected: str
):
    problems = refused(tmp_path, STORY.replace(old, new, 1))
    assert any(expected in problem for problem in problems), problems


def test_a_step_within_some_time_is_run_in_several_orders(tmp_path: Path):
    text = STORY.replace("    change:", "    within: 5m\n    change:")
    result = passed(tmp_path, text)
    assert result.differences, "the change comes at another second in each order"
