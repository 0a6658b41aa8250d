"""The table of the rows of several programs, and loop lag histograms."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.bench import rows
from e2e.bench.rows import BenchRow
from e2e.bench.support.loop_lag import LoopLagHistogram


MISSED = BenchRow("start", "≤ 10 s", "12.0 s", met=False, note="a | b")
MET, SHOWN = BenchRow("memory", "≤ 80 MiB", "76 MiB", met=True), BenchRow("events", "", "12")


def test_rows_that_were_written_are_read_again(tmp_path: Path):
    path = tmp_path / "new" / "rows.json"
    assert rows.report(rows.collect([MISSED, MET, SHOWN], path)) == 1
    assert rows.read(path) == [MISSED, MET, SHOWN]


def test_rows_of_a_benchmark_that_is_stopped_are_kept(tmp_path: Path):
    def measured() -> Iterator[BenchRow]:
        yield MET
        raise KeyboardInterrupt

    path = tmp_path / "rows.json"
    with pytest.raises(KeyboardInterrupt):
        rows.collect(measured(), path)
    assert rows.read(path) == [MET]


def test_a_table_has_a_line_for_each_row_and_as_many_cells_in_each():
    found = list(rows.table([MISSED, MET, SHOWN]))
    assert len(found) == 5
    assert {line.replace("\\|", "").count("|") for line in found} == {6}
    assert ["**no**" in line for line in found[2:]] == [True, False, False]


def test_the_table_of_the_readme_is_replaced_and_nothing_else(tmp_path: Path):
    readme = tmp_path / "README.md"
    readme.write_text((Path(rows.__file__).parent / "README.md").read_text())
    before = readme.read_text()
    rows.update_readme(readme, [MISSED])
    after = readme.read_text()
    assert rows.BEGIN in after
    assert after.count("| start | ≤ 10 s | 12.0 s | **no** |") == 1
    assert after.partition(rows.BEGIN)[0] == before.partition(rows.BEGIN)[0]
    assert after.partition(rows.END)[2] == before.partition(rows.END)[2]


def test_the_longest_block_is_given_by_its_bounds():
    before = LoopLagHistogram({0.01: 5, 0.05: 6, 0.1: 7, math.inf: 7})
    after = LoopLagHistogram({0.01: 9, 0.05: 12, 0.1: 13, math.inf: 13}).since(before)
    assert (after.count, after.count_over(0.05), after.longest) == (6, 0, "10 to 50 ms")
    assert before.count_over(0.05) == 1
    assert LoopLagHistogram({0.1: 0, math.inf: 1}).longest == "> 0.1 s"
