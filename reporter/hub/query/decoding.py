"""Decode the JSON of a query API (Prometheus, "HTTP API", instant queries)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from reporter.kube.wire.plain_text import clean
from reporter.model.fleet.answers import SeriesSample
from reporter.model.fleet.enums import QueryResult


class QueryFailed(Exception):
    """
    Raised without a complete answer; the text says why.

    *retry_after*: seconds that the engine asks for.
    """

    def __init__(self, result: QueryResult, why: str, *, retry_after: float | None = None) -> None:
        super().__init__(why)
        self.result, self.retry_after = result, retry_after


class _Series(Struct, gc=False):
    metric: dict[str, str]
    value: tuple[float, str]


class _Data(Struct, gc=False, rename="camel"):
    result_type: str
    result: list[_Series] | None = None


class _Response(Struct, gc=False, rename="camel"):
    """
    *is_partial*: of VictoriaMetrics, for an answer from which a part of its storage is missing.
    """

    status: str
    data: _Data | None = None
    error_type: str = ""
    error: str = ""
    warnings: list[Any] | None = None
    is_partial: bool = False


_DECODER = msgspec.json.Decoder(_Response)


class Vector(NamedTuple):
    """A complete instant vector. *time*: Unix time of its evaluation; None without series."""

    time: float | None
    series: list[_Series]

    def samples(self) -> Iterator[SeriesSample]:
        for each in self.series:
            yield SeriesSample(each.metric, each.value[1])


def decode(body: bytes, *, limit: int = 0) -> Vector:
    """
    Return the answer. Raises QueryFailed for one that is not complete.

    *limit*: the series that were asked for at most; an engine that does not know limits ignores it.
    """
    try:
        found = _DECODER.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as err:
        raise QueryFailed(
            QueryResult.UNREADABLE, f"not the answer of a query API: {clean(body, max_length=100)}"
        ) from err
    if found.status != "success" or found.data is None:
        why = clean(f"{found.error_type}: {found.error}")
        raise QueryFailed(QueryResult.FAILED, f"the engine answers with an error: {why}")
    series = found.data.result or []
    if limit and len(series) >= limit:
        raise QueryFailed(QueryResult.TRUNCATED, f"there are {limit} series or more")
    if found.warnings or found.is_partial:
        first = clean(str(found.warnings[0])) if found.warnings else "a part of its storage"
        raise QueryFailed(QueryResult.PARTIAL, f"the answer is partial: {first}")
    if found.data.result_type != "vector":
        kind = clean(found.data.result_type)
        raise QueryFailed(QueryResult.UNREADABLE, f"the answer is no vector: {kind}")
    return Vector(series[0].value[0] if series else None, series)
