"""The packs as shipped: each alone, all together, and the one that the page about packs writes."""

import re
from pathlib import Path

import pytest

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.catalogue.overlay import shipped_packs
from reporter.catalogue.reason_reference import read_entries, render_reasons
from reporter.cli.command_line import run_command
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.evaluation.registry import SPECS
from reporter.model.enums import EventType, Layer
from reporter.settings import FLAG_NAMES, load_settings


ROOT = Path(__file__).parents[3]
PACKS = shipped_packs(default_folder())
OTHERS = [each for each in PACKS if each != "kaito"]


def load(*packs: str) -> Catalogue:
    return load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES, packs=packs)


def test_kaito_is_the_default():
    assert load_settings([], {}).packs == ("kaito",)


@pytest.mark.parametrize("pack", PACKS)
def test_a_pack_needs_no_other_and_has_a_readme(pack):
    assert load(pack).entries
    assert (default_folder() / "packs" / pack / "README.md").read_text("utf-8")


def test_all_packs_fit_together_in_any_order():
    """Check orders in which each pack is before each other one, and first, and last."""
    whole = load(*PACKS)
    for order in (PACKS, PACKS[::-1]):
        for first in range(len(PACKS)):
            rotated = order[first:] + order[:first]
            assert list(load(*rotated).entries) == list(whole.entries)


@pytest.mark.parametrize("pack", OTHERS)
def test_a_pack_beside_kaito_changes_nothing_of_it(pack):
    alone, both = load("kaito"), load("kaito", pack)
    for reason in alone.entries:
        assert both[reason] == alone[reason]
        assert both.required_crds(reason) == alone.required_crds(reason)
    kept = [row for row in both.suppressions if row.source in alone.entries]
    assert kept == list(alone.suppressions)


@pytest.mark.parametrize("pack", OTHERS)
def test_a_pack_watches_namespaces_and_its_own_kinds_alone(pack):
    made = load(pack)
    watched = kinds_to_watch(made)
    assert {each.kind for each in watched if not each.is_declared} == {"Namespace"}
    made_by = {each.kind for each in made.subject_definitions.all}
    assert made_by <= set(watched), "as they are watched, not as they are declared"


@pytest.mark.parametrize("pack", OTHERS)
def test_every_reason_of_a_pack_says_what_it_means_and_what_to_do(pack):
    for entry in read_entries(default_folder(), [pack]):
        assert re.fullmatch(r"[A-Za-z].*\.", entry.meaning), entry.reason
        if entry.type is EventType.WARNING:
            assert len(entry.runbook) >= 3, entry.reason
            assert all(step.endswith(".") for step in entry.runbook), entry.reason
            longest = max(len(each.encode()) for each in entry.remedy.values())
            assert len(entry.message.encode()) + longest < 500, entry.reason


@pytest.mark.parametrize("pack", PACKS)
def test_the_reference_of_a_pack_has_its_subjects_as_headings(pack):
    page = render_reasons(default_folder(), [pack])
    definitions = load(pack).subject_definitions
    for layer in (Layer.MODELHARNESS, Layer.MODELDEPLOYMENT):
        abouts = [each.about for each in definitions.of_layer(layer)]
        assert (f"## Layer {layer}: " in page) == bool(abouts)
        assert all(about in page for about in abouts)


def test_the_pack_of_the_page_about_packs_is_accepted(tmp_path):
    page = (ROOT / "docs" / "packs.md").read_text("utf-8")
    example = re.search(r"```yaml\n# models/pack.yaml\n(.*?)```", page, re.DOTALL)
    assert example is not None
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "pack.yaml").write_text(example[1])
    made = load(str(folder))
    assert made.ready_entry(Layer.MODELDEPLOYMENT, "Model").reason == "modelReady"
    assert {each.kind for each in kinds_to_watch(made)} == {"Namespace", "Model"}


def test_the_example_of_what_a_reason_of_a_pack_suppresses_is_accepted(tmp_path):
    page = (ROOT / "docs" / "packs.md").read_text("utf-8")
    pack = re.search(r"```yaml\n# models/pack.yaml\n(.*?)```", page, re.DOTALL)
    (example,) = re.findall(r"has a\nrow for what.*?```yaml\n(.*?)```", page, re.DOTALL)
    assert pack is not None
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "pack.yaml").write_text(pack[1])
    (tmp_path / "models" / "controller.yaml").write_text(example)
    made = load(str(tmp_path / "models"))
    assert [(row.source, row.target) for row in made.suppressions if "Model" in row.source] == [
        ("clusterModelControllerNotReady", "modelNotServing")
    ]


def test_the_story_of_the_page_about_packs_passes_as_it_shows(tmp_path, capsys):
    page = (ROOT / "docs" / "packs.md").read_text("utf-8")
    for name, text in re.findall(r"```yaml\n# (models/[a-z/]+\.yaml)\n(.*?)```", page, re.DOTALL):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert run_command(["test", str(tmp_path / "models" / "stories"), "--coverage"], {}) == 0
    shown = page.partition("test models/stories --coverage\n```\n\n")[2].splitlines()[:3]
    assert capsys.readouterr().out.splitlines() == [line.removeprefix("    ") for line in shown]


def test_the_page_about_packs_names_all_that_are_shipped():
    page = (ROOT / "docs" / "packs.md").read_text("utf-8")
    assert all(f"`{pack}`" in page for pack in PACKS)
