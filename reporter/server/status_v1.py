"""
Render ``/status/v1``: the roll-up as JSON, in parts, with a tag that changes with its content.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from itertools import islice

import msgspec
from msgspec import Struct

from reporter.model.states import ANY_STATE, COUNTED_STATES, State
from reporter.model.status_document import SCHEMA_VERSION, StatusError
from reporter.model.status_struct import StatusStruct
from reporter.rollup.document import StatusView


MAX_WAIT_SECONDS = 30
"""The longest long poll: half of the time that a response may take."""

SETS_PER_PART = 100
"""The InferenceSets that are rendered at once: a few milliseconds of the event loop."""


class StatusRequest(Struct, frozen=True):
    """
    A request for all, for one *namespace*, or for one *inference_set* in it.

    *states*: of the InferenceSets to show. *wait*: seconds to wait for a change.
    """

    namespace: str = ""
    inference_set: str = ""
    states: Collection[State] = ANY_STATE
    wait: int = 0


def parse_request(
    path: Mapping[str, str], query: Mapping[str, str]
) -> StatusRequest | StatusError:
    """
    Return the request for ``/status/v1`` from its path and the query ``?state=`` and ``?wait=``.

    A StatusError, for an answer 400, if a state is unknown or the wait is no number of seconds.
    """
    states = parse_states(query.get("state", ""))
    wait = parse_wait(query.get("wait", "0"))
    if isinstance(states, StatusError):
        return states
    if isinstance(wait, StatusError):
        return wait
    return StatusRequest(path.get("namespace", ""), path.get("name", ""), states, wait)


def parse_states(text: str) -> Collection[State] | StatusError:
    """
    Return the states of ``?state=``, separated by commas, in any case; all for the empty text.

    A StatusError if one is unknown, as NotFound is: nothing that exists has it.
    """
    if not text:
        return ANY_STATE
    known = {state.lower(): state for state in COUNTED_STATES}
    found = [known.get(word.strip().lower()) for word in text.split(",")]
    states = frozenset(state for state in found if state is not None)
    if len(states) == len(set(found)):
        return states
    return _error(
        "unknown state in ?state=", f"Use one or more of {', '.join(COUNTED_STATES)}, with commas."
    )


def parse_wait(text: str) -> int | StatusError:
    """Return the seconds of ``?wait=``, 0 to MAX_WAIT_SECONDS; a StatusError for any other text."""
    if text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_WAIT_SECONDS)):
        seconds = int(text)
        if seconds <= MAX_WAIT_SECONDS:
            return seconds
    return _error(
        "?wait= is no number of seconds", f"Use a whole number from 0 to {MAX_WAIT_SECONDS}."
    )


def find_missing(view: StatusView, request: StatusRequest) -> StatusError | None:
    """
    Return the error for an answer 404, if what is asked for is certainly not there; None otherwise.
    """
    namespace, name = request.namespace, request.inference_set
    if not namespace:
        return None
    if view.namespace_summary(namespace) is None:
        return _error(
            f"no workload namespace {namespace}",
            "See GET /status/v1 for those there are. A workload namespace has the label"
            " productionstack.kaito.sh/managed-by=modelharness.",
            state=State.NOT_FOUND,
        )
    if name and view.inference_set(namespace, name) is None:
        return _error(
            f"no InferenceSet {namespace}/{name}",
            f"See GET /status/v1/namespaces/{namespace} for those there are.",
            state=State.NOT_FOUND,
        )
    return None


def too_many_waiting(limit: int) -> StatusError:
    """Return the error for an answer 429: *limit* requests wait for a change already."""
    return _error(
        f"{limit} requests wait for a change already", "Ask again later, or without ?wait=."
    )


def _error(error: str, remedy: str, *, state: State | None = None) -> StatusError:
    return StatusError(schema=SCHEMA_VERSION, state=state, error=error, remedy=remedy)


def revision_of(view: StatusView, request: StatusRequest) -> int:
    """Return the number that changes with the content of the answer; ages are of no account."""
    record = view.rollup.namespaces.get(request.namespace)
    return record.revision if record is not None else view.rollup.revision


def encode(value: StatusStruct) -> bytes:
    """Return the compact JSON of an answer, with a line break at its end."""
    return msgspec.json.encode(value) + b"\n"


def render(view: StatusView, request: StatusRequest) -> Generator[bytes, None, None]:
    """Yield the answer in parts; *request* is one for which `find_missing` returned None."""
    cluster = None if request.namespace else view.cluster()
    names = [request.namespace] if request.namespace else view.namespace_names(request.states)
    yield from with_list(
        view.document(cluster=cluster), "namespaces", _namespaces(view, names, request)
    )
    yield b"\n"


def _namespaces(
    view: StatusView, names: Iterable[str], request: StatusRequest
) -> Iterator[Iterator[bytes]]:
    for name in names:
        summary = view.namespace_summary(name)
        if summary is not None:
            yield with_list(summary, "inferenceSets", _inference_sets(view, name, request))


def _inference_sets(
    view: StatusView, namespace: str, request: StatusRequest
) -> Iterator[Iterator[bytes]]:
    if request.inference_set:
        found = view.inference_set(namespace, request.inference_set)
        sets = iter([found] if found is not None else [])
    else:
        sets = view.inference_sets(namespace, request.states)
    while part := list(islice(sets, SETS_PER_PART)):
        yield iter([b",".join(map(msgspec.json.encode, part))])


def with_list(head: StatusStruct, key: str, items: Iterator[Iterator[bytes]]) -> Iterator[bytes]:
    """
    Yield the JSON of a struct with one more key: a list whose items are rendered one by one.

    *head*: has other keys, and not this one. Without items the key is left out.
    """
    yield msgspec.json.encode(head).removesuffix(b"}")
    separator = b',"%b":[' % key.encode()
    end = b"}"
    for item in items:
        yield separator
        yield from item
        separator, end = b",", b"]}"
    yield end
