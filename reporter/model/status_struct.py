"""The base of every published struct of the status, and its times."""

from datetime import datetime
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct


Time: TypeAlias = Annotated[datetime, Meta(tz=True)]


class StatusStruct(
    Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True
):
    """
    The base of every published struct: keys in camel case, left out with their default value.
    """
