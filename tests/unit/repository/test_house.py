"""Rules for names and docstrings that no linter checks."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[3]
MAX_LINES = 500
LINE_LENGTH, QUOTES = 99, '"""'
RIDDLE = re.compile(r"(What|Whether|Who|Of|As|How|Where|When|Why|Which)\b")


def _files(*folders: str) -> list[Path]:
    found = [file for each in folders for file in sorted((ROOT / each).rglob("*.py"))]
    assert len(found) > 50
    return found


def _docstrings(file: Path) -> Iterator[tuple[ast.Expr, str]]:
    """Yield each docstring, also those below constants, with its text."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else ():
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                yield each, str(each.value.value).strip()


def test_a_class_name_exists_once_in_the_program() -> None:
    names = Counter(
        node.name
        for file in _files("reporter")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("folder", ["reporter", "devcluster", "e2e", "tests"])
def test_a_docstring_does_not_open_with_a_question_word(folder: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{each.lineno}: {text.splitlines()[0]}"
        for file in _files(folder)
        for each, text in _docstrings(file)
        if RIDDLE.match(text)
    ]
    assert found == []


@pytest.mark.parametrize("folder", ["reporter", "devcluster", "e2e", "tests"])
def test_a_docstring_that_fits_on_one_line_is_there(folder: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{each.lineno}"
        for file in _files(folder)
        for each, text in _docstrings(file)
        if each.end_lineno == each.lineno + 2
        and each.col_offset + len(text) + 2 * len(QUOTES) <= LINE_LENGTH
        and not text.endswith('"')
    ]
    assert found == []


def test_a_file_has_a_length_that_can_be_read_at_once() -> None:
    lengths = {
        file: len(file.read_text("utf-8").splitlines())
        for file in _files("reporter", "devcluster", "e2e", "tests")
    }
    assert [str(file) for file, length in lengths.items() if length > MAX_LINES] == []
