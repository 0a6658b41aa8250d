from reporter.status.table import ChangingTable, TableRow


HEAD = ("NAMESPACE", "NAME", "STATE", "FOR", "BLOCKED BY")
QWEN, PHI = ("team-a", "qwen"), ("team-b", "phi")


def a_table() -> ChangingTable:
    return ChangingTable(HEAD, ages={"FOR"}, colour=False, with_head=True)


def a_row(name: tuple[str, str], state: str = "Current", age: str = "5s") -> TableRow:
    return (*name, state, age, "-")


def shown(table: ChangingTable, *rows: TableRow) -> list[list[str]]:
    return [line.split() for line in table.render(rows)]


def test_the_first_rows_follow_the_header_and_later_ones_only_if_they_changed():
    table = a_table()
    first = shown(table, a_row(QWEN), a_row(PHI))
    assert [line[0] for line in first] == ["NAMESPACE", "team-a", "team-b"]
    changed = a_row(PHI, "Failed")
    assert shown(table, a_row(QWEN), changed) == [[*PHI, "Failed", "5s", "-"]]


def test_an_age_is_no_change():
    table = a_table()
    assert shown(table, a_row(QWEN))
    assert shown(table, a_row(QWEN, age="9m")) == []


def test_a_row_that_is_missing_is_shown_once_as_not_found():
    table = a_table()
    shown(table, a_row(QWEN), a_row(PHI))
    assert shown(table, a_row(PHI)) == [[*QWEN, "NotFound", "-", "-"]]
    assert shown(table, a_row(PHI)) == []
    assert shown(table, a_row(QWEN), a_row(PHI)) == [[*QWEN, "Current", "5s", "-"]]


def test_without_rows_there_is_no_header_until_there_are_some():
    table = a_table()
    assert shown(table) == []
    assert [line[0] for line in shown(table, a_row(QWEN))] == ["NAMESPACE", "team-a"]
