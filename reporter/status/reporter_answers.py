"""The requests to a running reporter, and its answers."""

from http import HTTPStatus

from msgspec.structs import replace

from reporter.kube.error_mapping import is_html
from reporter.model.states import State
from reporter.model.status_document import StatusDocument
from reporter.status.http_source import (
    PATH,
    Fetched,
    RequestTarget,
    read_document,
    read_missing,
    read_raw,
)
from reporter.status.source import StatusAnswer, StatusQueryFailed, Target


def request_of(target: Target) -> RequestTarget:
    """
    Return the request about a target, whose names are valid ones; PATH for everything and the control plane.

    For the control plane alone it asks for namespaces in a state that almost none is in, and so for a
    short answer.
    """
    parts = [part for part in (target.namespace, target.name) if part]
    path = "/".join((PATH, "namespaces", *parts)) if parts else PATH
    return RequestTarget(path, (("state", State.TERMINATING.value),) if target.is_cluster else ())


def read_answer(fetched: Fetched, target: Target) -> StatusAnswer:
    """
    Return the answer in a response; without a document if the target is not there.

    Raises StatusQueryFailed for any other error, for the answer of a hub, and for that of another version.
    """
    missing = read_missing(fetched)
    if missing is not None:
        return StatusAnswer(None, missing=missing)
    if fetched.status == HTTPStatus.NOT_FOUND and not is_html(fetched.headers):
        raise StatusQueryFailed(
            f"this reporter has no {PATH}: it is of an older version, or its address is not the"
            " status address; upgrade it, or use --from=cluster"
        )
    raw = read_raw(fetched)
    if "scope" in raw:
        raise StatusQueryFailed("this is the address of a hub; ask it with --from=hub:URL")
    document = read_document(raw, StatusDocument, "reporter")
    if target.is_cluster:
        document = replace(document, namespaces=())
        raw = {key: value for key, value in raw.items() if key != "namespaces"}
    return StatusAnswer(document, raw, tag=fetched.headers.get("ETag", ""))
