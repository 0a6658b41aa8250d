"""
Fields of an object by the names that they have in JSON, also of a type that was made for a catalogue.
"""

from collections.abc import Mapping

from msgspec import UNSET, Struct


def json_field(value: object, name: str) -> object:
    """Return a field of a struct or of a mapping; None if there is none."""
    if isinstance(value, Struct):
        names = value.__struct_encode_fields__
        if name not in names:
            return None
        found = getattr(value, value.__struct_fields__[names.index(name)])
        return None if found is UNSET else found
    return value.get(name) if isinstance(value, Mapping) else None


def json_items(value: object, name: str) -> tuple[object, ...]:
    """Return the items of a field that is a list; none if it is none."""
    found = json_field(value, name)
    return tuple(found) if isinstance(found, list | tuple) else ()
