"""Rules for names and docstrings that no linter checks."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple


ROOT = Path(__file__).parents[3]
FOLDERS = ("reporter", "docs", "devcluster", "e2e", "tests")
MAX_LINES, MAX_FUNCTION_LINES = 500, 40
LINE_LENGTH, QUOTES = 99, '"""'
RIDDLE = re.compile(r"(What|Whether|Who|Of|As|How|Where|When|Why|Which)\b")


def _files(*folders: str) -> list[Path]:
    found = [file for each in folders for file in sorted((ROOT / each).rglob("*.py"))]
    assert len(found) > 50
    return found


class Docstring(NamedTuple):
    """A docstring, also one below a constant. *lines*: how many it has. *end*: where it ended on one."""

    lineno: int
    lines: int
    end: int
    text: str


class Read(NamedTuple):
    """
    The parts of a file: the names of its classes, type aliases with what they stand for, and functions with
    their first lines and their numbers of lines; and its docstrings.
    """

    classes: tuple[str, ...]
    aliases: tuple[tuple[str, str], ...]
    functions: tuple[tuple[str, int, int], ...]
    docstrings: tuple[Docstring, ...]


@cache
def _read(file: Path) -> Read:
    classes, aliases, functions, docstrings = [], [], [], []
    blocks: list[ast.AST] = [ast.parse(file.read_text("utf-8"))]
    while blocks:
        block = blocks.pop()
        if isinstance(block, ast.ClassDef):
            classes.append(block.name)
        if isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (block.end_lineno or block.lineno) - block.lineno + 1
            functions.append((block.name, block.lineno, lines))
        for each in _statements(block):
            if isinstance(each, ast.AnnAssign) and ast.unparse(each.annotation) == "TypeAlias":
                aliases.append((ast.unparse(each.target), ast.unparse(each.value or each.target)))
            if not isinstance(each, ast.Expr):
                blocks.append(each)
            elif isinstance(each.value, ast.Constant):
                text = str(each.value.value).strip()
                lines = (each.end_lineno or each.lineno) - each.lineno + 1
                end = each.col_offset + len(text) + 2 * len(QUOTES)
                docstrings.append(Docstring(each.lineno, lines, end, text))
    return Read(tuple(classes), tuple(aliases), tuple(functions), tuple(docstrings))


def _statements(block: ast.AST) -> Iterator[ast.AST]:
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        yield from getattr(block, name, ())


def test_a_name_of_a_class_or_a_type_alias_has_one_meaning() -> None:
    files = _files("reporter")
    # Two modules may call the same type by the same name.
    aliases = {each for file in files for each in _read(file).aliases}
    names = Counter(name for file in files for name in _read(file).classes)
    names.update(name for name, _ in aliases)
    assert len(names) > 500
    assert [name for name, count in names.items() if count > 1 and not name.startswith("_")] == []


def test_a_docstring_does_not_open_with_a_question_word() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{each.lineno}: {each.text.splitlines()[0]}"
        for file in _files(*FOLDERS)
        for each in _read(file).docstrings
        if RIDDLE.match(each.text)
    ]
    assert found == []


def test_a_docstring_that_fits_on_one_line_is_there() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{each.lineno}"
        for file in _files(*FOLDERS)
        for each in _read(file).docstrings
        if each.lines == 3 and each.end <= LINE_LENGTH and not each.text.endswith('"')
    ]
    assert found == []


def test_a_function_of_the_program_fits_on_a_screen() -> None:
    functions = [
        (f"{file.relative_to(ROOT)}:{lineno} {name}", lines)
        for file in _files("reporter", "docs")
        for name, lineno, lines in _read(file).functions
    ]
    assert len(functions) > 3000
    assert [name for name, lines in functions if lines > MAX_FUNCTION_LINES] == []


def test_a_file_has_a_length_that_can_be_read_at_once() -> None:
    lengths = {file: len(file.read_text("utf-8").splitlines()) for file in _files(*FOLDERS)}
    assert [str(file) for file, length in lengths.items() if length > MAX_LINES] == []
