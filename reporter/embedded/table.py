"""
Tables: what kubectl asks for instead of objects.
"""

from datetime import datetime

import msgspec

from reporter.embedded.columns import table_of
from reporter.embedded.encoding import list_meta
from reporter.embedded.kinds import Kind
from reporter.embedded.listing import Page
from reporter.embedded.statuses import Json
from reporter.embedded.storage import Stored


def wanted(accept: str) -> bool:
    """
    Whether the first media type of an Accept header that is understood is that of a Table.
    """
    first = accept.partition(",")[0].replace(" ", "")
    return {"as=Table", "v=v1", "g=meta.k8s.io"} <= set(first.split(";"))


def table(kind: Kind, page: Page, include: str, now: datetime) -> bytes:
    """
    *include* is what each row carries of its object: None, Metadata or Object.
    """
    columns, cells = table_of(kind)
    rows = [
        {"cells": cells(stored.value, now), "object": _carried(kind, stored, include)}
        for stored in page.items
    ]
    meta = list_meta(kind, page)
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


def _carried(kind: Kind, stored: Stored, include: str) -> Json | None:
    if include == "None":
        return None
    if include == "Object":
        return {"kind": kind.kind, "apiVersion": kind.api_version, **stored.value}
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": stored.value["metadata"],
    }


def row(kind: Kind, stored: Stored, include: str, now: datetime) -> bytes:
    """
    The Table of one object, as for a GET or in a watch.
    """
    return table(kind, Page([stored], stored.version), include, now)
