"""Tables, which kubectl requests instead of objects."""

from datetime import datetime

import msgspec

from devcluster.http.responses.objects import list_metadata
from devcluster.http.responses.printer_columns import columns_for
from devcluster.schema.api_errors import Json
from devcluster.schema.kinds import ServedKind
from devcluster.storage.listing import ServedPage
from devcluster.storage.storage import StoredObject


def accepts_table(accept: str) -> bool:
    """Return whether the first media type of an Accept header is that of a Table."""
    first = accept.partition(",")[0].replace(" ", "")
    return {"as=Table", "v=v1", "g=meta.k8s.io"} <= set(first.split(";"))


def encode_table(kind: ServedKind, page: ServedPage, include: str, now: datetime) -> bytes:
    """
    Encode a list as a Table; *include* (None, Metadata or Object) is the object part of each row.
    """
    columns, cells = columns_for(kind)
    rows = [
        {"cells": cells(stored.value, now), "object": _row_object(kind, stored, include)}
        for stored in page.items
    ]
    meta = list_metadata(kind, page)
    if not meta.get("continue"):
        meta.pop("continue", None)
    return msgspec.json.encode(
        {
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": meta,
            "columnDefinitions": [
                {
                    "name": column.name,
                    "type": column.type,
                    "format": column.format,
                    "description": "",
                    "priority": column.priority,
                }
                for column in columns
            ],
            "rows": rows,
        }
    )


def _row_object(kind: ServedKind, stored: StoredObject, include: str) -> Json | None:
    if include == "None":
        return None
    if include == "Object":
        return {"kind": kind.kind, "apiVersion": kind.api_version, **stored.value}
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": stored.value["metadata"],
    }


def encode_table_row(kind: ServedKind, stored: StoredObject, include: str, now: datetime) -> bytes:
    """Encode one object as a Table of one row, for a GET or a watch."""
    return encode_table(kind, ServedPage([stored], stored.resource_version), include, now)
