from datetime import UTC, datetime

import pytest

from reporter.embedded.columns import table_of
from reporter.embedded.kinds import Column, Kind


NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("path", "cell"),
    [
        (".spec.size", 3),
        (".spec.nope", None),
        (".spec.size.deeper", None),
        ('.status.conditions[?(@.type=="Ready")].status', "True"),
        ('.status.conditions[?(@.type=="Other")].status', None),
    ],
)
def test_a_column_of_a_crd_shows_what_its_path_leads_to(path, cell):
    kind = Kind(
        "g", "v1", "widgets", "Widget", "widget", custom=True, columns=(Column("X", path=path),)
    )
    value = {
        "metadata": {"name": "w"},
        "spec": {"size": 3},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    _, cells = table_of(kind)
    assert cells(value, NOW) == ["w", cell]
