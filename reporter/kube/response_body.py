"""Read the body of a response as a whole, up to a size."""

import aiohttp


class BodyTooLargeError(Exception):
    """A body with more bytes than are accepted; the text says how many are."""


async def read_body(response: aiohttp.ClientResponse, max_bytes: int | None) -> bytes:
    """
    Return the body. Raises BodyTooLargeError, or what aiohttp raises for a connection that ends.

    One read of aiohttp returns what has arrived, which may be a part of it.
    """
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if max_bytes is not None and len(body) > max_bytes:
            raise BodyTooLargeError(f"more than {max_bytes} bytes")
    return bytes(body)
