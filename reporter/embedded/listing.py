"""
Lists: which objects, as of which version, in which pages.
"""

import base64
import binascii
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from reporter.embedded import statuses
from reporter.embedded.kinds import Kind
from reporter.embedded.matching import Selection
from reporter.embedded.statuses import bad_request, forbidden_value, invalid
from reporter.embedded.storage import Collection, Stored, TooOld


@dataclass(frozen=True, slots=True)
class ListOptions:
    limit: int = 0
    token: str = ""
    version: str = ""
    version_match: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    items: list[Stored]
    version: int
    token: str = ""
    remaining: int | None = None


class _Token(msgspec.Struct):
    rv: int
    start: str
    v: str = "meta.k8s.io/v1"


def list_options(query: Mapping[str, str]) -> ListOptions:
    """
    The options of a list; a 400 or 422 if they cannot be read or contradict each other.
    """
    options = ListOptions(
        number(query.get("limit", "")),
        query.get("continue", ""),
        query.get("resourceVersion", ""),
        query.get("resourceVersionMatch", ""),
    )
    if options.token and options.version not in {"", "0"}:
        raise bad_request("specifying resource version is not allowed when using continue")
    causes = []
    if options.version_match and not options.version:
        text = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        causes.append(forbidden_value("resourceVersionMatch", text))
    if options.version_match == "Exact" and options.version == "0":
        text = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        causes.append(forbidden_value("resourceVersionMatch", text))
    if query.get("sendInitialEvents"):
        text = "sendInitialEvents is forbidden for list"
        causes.append(forbidden_value("sendInitialEvents", text))
    if causes:
        raise invalid("ListOptions", "meta.k8s.io", "", causes)
    return options


def number(text: str) -> int:
    try:
        return int(text or 0)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def page(
    kind: Kind, collection: Collection, current: int, chosen: Selection, options: ListOptions
) -> Page:
    """
    One page of a list; 410 if it belongs to a version that is forgotten.
    """
    limit = 0 if kind.cached and options.version == "0" else options.limit
    version, after = _position(options, current)
    try:
        keys, held = (
            collection.at(version) if version < current else (collection.keys, collection.objects)
        )
    except TooOld:
        raise _too_old(options, after) from None
    keys = _in_namespace(keys, chosen.namespace)
    keys = keys[bisect_left(keys, after) :] if after else keys
    items: list[Stored] = []
    for passed, key in enumerate(keys):
        if limit and len(items) == limit:
            left = None if chosen.selects else len(keys) - passed
            return Page(items, version, _token(version, f"{items[-1].key}\0"), left)
        if chosen.matches(held[key]):
            items.append(held[key])
    return Page(items, version)


def _position(options: ListOptions, current: int) -> tuple[int, str]:
    """
    As of which version, and from which key on.
    """
    if options.token:
        token = _read_token(options.token)
        return (token.rv if token.rv > 0 else current), token.start
    wanted = version_number(options.version)
    if wanted > current:
        raise statuses.too_large(wanted, current)
    exact = options.version_match == "Exact" or (options.limit and not options.version_match)
    return (wanted if wanted and exact else current), ""


def version_number(text: str) -> int:
    if text and not text.isdecimal():
        why = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}"'
        raise bad_request(f"invalid resource version: {why}: invalid syntax")
    return int(text or 0)


def _in_namespace(keys: list[str], namespace: str) -> list[str]:
    if not namespace:
        return keys
    return keys[bisect_left(keys, f"{namespace}/") : bisect_left(keys, f"{namespace}0")]


def _too_old(options: ListOptions, after: str) -> statuses.ApiError:
    if options.token:
        return statuses.continue_too_old(_token(-1, after))
    return statuses.list_too_old()


def _token(version: int, start: str) -> str:
    data = msgspec.json.encode(_Token(rv=version, start=start))
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _read_token(text: str) -> _Token:
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return msgspec.json.decode(data, type=_Token)
    except (binascii.Error, msgspec.DecodeError, UnicodeError) as err:
        raise bad_request(f"invalid continue token: continue key is not valid: {err}") from err
