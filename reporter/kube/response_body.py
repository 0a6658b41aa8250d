"""Read the body of a response as a whole, up to a size."""

from io import BytesIO

import aiohttp


class BodyTooLargeError(Exception):
    """A body with more bytes than are accepted; the text says how many are."""


async def read_body(response: aiohttp.ClientResponse, max_bytes: int | None) -> bytes:
    """
    Return the body. Raises BodyTooLargeError, or what aiohttp raises for a connection that ends.

    One read of aiohttp returns what has arrived, which may be a part of it.
    """
    body = BytesIO()  # which gives its bytes without another copy
    async for chunk in response.content.iter_any():
        body.write(chunk)
        if max_bytes is not None and body.tell() > max_bytes:
            raise BodyTooLargeError(f"more than {max_bytes} bytes")
    return body.getvalue()
