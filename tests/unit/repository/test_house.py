"""
Rules for names and docstrings that no linter checks.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[3]
MAX_LINES = 500
RIDDLE = re.compile(r"(What|Whether|Who|Of|As|How|Where|When|Why|Which)\b")


def _files(*folders: str) -> list[Path]:
    found = [file for each in folders for file in sorted((ROOT / each).rglob("*.py"))]
    assert len(found) > 100
    return found


def _docstrings(file: Path) -> Iterator[tuple[int, str]]:
    """
    Return the line and the text of each docstring, also of those below constants.
    """
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else ():
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                yield each.lineno, str(each.value.value).strip()


def test_a_class_name_exists_once_in_the_program() -> None:
    names = Counter(
        node.name
        for file in _files("reporter")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("folder", ["reporter", "e2e", "tests"])
def test_a_docstring_does_not_open_with_a_question_word(folder: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for file in _files(folder)
        for line, text in _docstrings(file)
        if RIDDLE.match(text)
    ]
    assert found == []


def test_a_file_has_a_length_that_can_be_read_at_once() -> None:
    lengths = {
        file: len(file.read_text("utf-8").splitlines())
        for file in _files("reporter", "e2e", "tests")
    }
    assert [str(file) for file, length in lengths.items() if length > MAX_LINES] == []
