"""The documents agree with the program and with each other."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generators import reference, schemas
from docs.generators.reference import RENDERERS, renew
from docs.generators.schemas import SCHEMAS
from reporter.hub.metric_declarations import HUB_METRICS
from reporter.metrics.declarations import METRICS
from reporter.settings import FLAGS
from reporter.status.table import head
from tests.support.documents import CODE_BLOCK, anchors


ROOT = Path(__file__).parents[3]
README_WORDS = 1_200
FOLDERS = [path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")]
PAGES = sorted(
    path.relative_to(ROOT)
    for found in (ROOT.glob("*.md"), *(folder.rglob("*.md") for folder in FOLDERS))
    for path in found
)

WALK_ROW = re.compile(r"^\| \d+ \| \[[^\]]+\]\(([^)]+)\) \| `(\w+)` \|", re.MULTILINE)
NAME_OF = re.compile(r"`(\w+)` of \[[^\]]+\]\(([^)]+\.py)\)")
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")
PRIVATE_FORM = "../../security/advisories/new"
"""
The form of the repository itself, as GitHub resolves it from a file at OWNER/NAME/blob/BRANCH, of any fork.
"""


@pytest.mark.parametrize("name", RENDERERS)
def test_a_reference_is_what_the_program_declares(name):
    page = (ROOT / "docs" / name).read_text("utf-8")
    assert page == renew(page, RENDERERS[name]()), f"run {reference.COMMAND}"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_published_schema_is_that_of_the_types(name):
    published = (ROOT / name).read_text("utf-8")
    assert published == SCHEMAS[name](), f"run {schemas.COMMAND}"
    assert json.loads(published)["$schema"].startswith("https://json-schema.org/")


def test_every_metric_and_every_flag_has_a_row_with_all_its_facts():
    metrics, flags = (
        (ROOT / "docs" / name).read_text("utf-8").splitlines()
        for name in ("metrics.md", "flags.md")
    )
    for metric in (*METRICS, *HUB_METRICS):
        (row,) = (line for line in metrics if line.startswith(f"| `{metric.full_name}` |"))
        assert f"| {metric.type} |" in row
        assert metric.help in row
        assert all(f"`{label}`" in row for label in metric.labels)
    for flag in FLAGS:
        (row,) = (line for line in flags if line.startswith(f"| `--{flag.name}` |"))
        assert f"`{flag.variable}`" in row
        assert flag.default in row
        assert flag.help in row


def test_the_columns_of_the_status_are_explained():
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    (sample,) = (line for line in page.splitlines() if re.match(r" +NAME +STATE ", line))
    assert re.split(r" {3,}", sample.strip()) == [*head("NAME", wide=False)]
    assert [each for each in head(wide=True) if f"`{each}`" not in page] == []


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="generated: begin"):
        renew("# Flags\n", "table")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_relative_link_leads_somewhere(page):
    text = (ROOT / page).read_text("utf-8")
    wrong = [link for link in _relative_links(text) if not _exists(page, link)]
    assert not wrong


def test_vulnerabilities_are_reported_by_the_private_form_of_whichever_repository_it_is():
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    section = text.partition("## Reporting a vulnerability")[2].partition("\n## ")[0]
    assert LINK.findall(section) == [PRIVATE_FORM, "CHANGELOG.md"]


def test_a_broken_link_and_a_broken_anchor_are_noticed():
    assert _exists(Path("README.md"), "docs/metrics.md#labels")
    assert not _exists(Path("README.md"), "docs/metrics.md#colours")
    assert not _exists(Path("README.md"), "docs/colours.md")
    assert not _exists(Path("docs/metrics.md"), "#colours")


def test_the_functions_of_the_architecture_are_in_their_files():
    page = Path("docs/architecture.md")
    text = (ROOT / page).read_text("utf-8")
    rows = WALK_ROW.findall(text)
    named = [(link, name) for name, link in NAME_OF.findall(text)]
    assert len(rows) > 12
    assert len(named) > 5
    for link, name in (*rows, *named):
        source = ((ROOT / page).parent / link).read_text("utf-8")
        assert re.search(
            rf"^ *(?:(?:async )?def {name}\(|class {name}\b|(?:self\.)?{name}(?:: .*)? = )",
            source,
            re.MULTILINE,
        ), f"{page}: there is no {name} in {link}"


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= README_WORDS


def _relative_links(text: str) -> Iterator[str]:
    for link in LINK.findall(CODE_BLOCK.sub("", text)):
        if not re.match(r"[a-z]+:", link) and link != PRIVATE_FORM:
            yield link


def _exists(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (ROOT / page).parent / path if path else ROOT / page
    if not target.exists():
        return False
    return not anchor or anchor in anchors(target.read_text("utf-8"))
