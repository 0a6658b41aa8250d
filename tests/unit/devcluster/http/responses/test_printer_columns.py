from datetime import UTC, datetime

import pytest

from devcluster.http.responses.printer_columns import columns_for
from devcluster.schema.kinds import PrinterColumn, ServedKind


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
def test_column_of_a_crd_shows_the_value_at_its_json_path(path, cell):
    kind = ServedKind(
        "g",
        "v1",
        "widgets",
        "Widget",
        "widget",
        is_custom=True,
        columns=(PrinterColumn("X", json_path=path),),
    )
    value = {
        "metadata": {"name": "w"},
        "spec": {"size": 3},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    _, cells = columns_for(kind)
    assert cells(value, NOW) == ["w", cell]
