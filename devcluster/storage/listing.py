"""Lists of objects in pages, also as of an earlier version."""

import base64
import binascii
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from devcluster.schema import api_errors
from devcluster.schema.api_errors import bad_request, forbidden_value, invalid
from devcluster.schema.kinds import ServedKind
from devcluster.storage.selection import Selection
from devcluster.storage.storage import Collection, StoredObject, TooOldResourceVersion


@dataclass(frozen=True, slots=True)
class ListOptions:
    limit: int = 0
    continue_token: str = ""
    resource_version: str = ""
    resource_version_match: str = ""


@dataclass(frozen=True, slots=True)
class ServedPage:
    items: list[StoredObject]
    resource_version: int
    continue_token: str = ""
    remaining_item_count: int | None = None


class _ContinueToken(msgspec.Struct):
    rv: int
    start: str
    v: str = "meta.k8s.io/v1"


def parse_list_options(query: Mapping[str, str]) -> ListOptions:
    """
    Parse the options of a list. Raise a 400 or 422 if they are invalid or contradict each other.
    """
    options = ListOptions(
        parse_integer(query.get("limit", "")),
        query.get("continue", ""),
        query.get("resourceVersion", ""),
        query.get("resourceVersionMatch", ""),
    )
    if options.continue_token and options.resource_version not in {"", "0"}:
        raise bad_request("specifying resource version is not allowed when using continue")
    causes = []
    if options.resource_version_match and not options.resource_version:
        text = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        causes.append(forbidden_value("resourceVersionMatch", text))
    if options.resource_version_match == "Exact" and options.resource_version == "0":
        text = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        causes.append(forbidden_value("resourceVersionMatch", text))
    if query.get("sendInitialEvents"):
        text = "sendInitialEvents is forbidden for list"
        causes.append(forbidden_value("sendInitialEvents", text))
    if causes:
        raise invalid("ListOptions", "meta.k8s.io", "", causes)
    return options


def parse_integer(text: str) -> int:
    try:
        return int(text or 0)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def list_page(
    kind: ServedKind,
    collection: Collection,
    current: int,
    selection: Selection,
    options: ListOptions,
) -> ServedPage:
    """Return one page of a list. Raise a 410 if the history does not reach back to its version."""
    limit = 0 if kind.is_watch_cached and options.resource_version == "0" else options.limit
    version, after = _read_position(options, current)
    try:
        keys, objects = (
            collection.objects_at(version)
            if version < current
            else (collection.keys, collection.objects)
        )
    except TooOldResourceVersion:
        raise _expired_error(options, after) from None
    keys = _keys_in_namespace(keys, selection.namespace)
    keys = keys[bisect_left(keys, after) :] if after else keys
    items: list[StoredObject] = []
    for index, key in enumerate(keys):
        if limit and len(items) == limit:
            remaining = None if selection.has_selectors else len(keys) - index
            return ServedPage(
                items, version, _encode_token(version, f"{items[-1].key}\0"), remaining
            )
        if selection.matches(objects[key]):
            items.append(objects[key])
    return ServedPage(items, version)


def _read_position(options: ListOptions, current: int) -> tuple[int, str]:
    """Return the version of the list and the key to start from."""
    if options.continue_token:
        token = _decode_token(options.continue_token)
        return (token.rv if token.rv > 0 else current), token.start
    requested = parse_resource_version(options.resource_version)
    if requested > current:
        raise api_errors.resource_version_too_large(requested, current)
    is_exact = options.resource_version_match == "Exact" or (
        options.limit and not options.resource_version_match
    )
    return (requested if requested and is_exact else current), ""


def parse_resource_version(text: str) -> int:
    if text and not text.isdecimal():
        detail = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}"'
        raise bad_request(f"invalid resource version: {detail}: invalid syntax")
    return int(text or 0)


def _keys_in_namespace(keys: list[str], namespace: str) -> list[str]:
    if not namespace:
        return keys
    return keys[bisect_left(keys, f"{namespace}/") : bisect_left(keys, f"{namespace}0")]


def _expired_error(options: ListOptions, after: str) -> api_errors.ApiError:
    if options.continue_token:
        return api_errors.continue_expired(_encode_token(-1, after))
    return api_errors.list_expired()


def _encode_token(version: int, start: str) -> str:
    data = msgspec.json.encode(_ContinueToken(rv=version, start=start))
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode_token(text: str) -> _ContinueToken:
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return msgspec.json.decode(data, type=_ContinueToken)
    except (binascii.Error, msgspec.DecodeError, UnicodeError) as err:
        raise bad_request(f"invalid continue token: continue key is not valid: {err}") from err
