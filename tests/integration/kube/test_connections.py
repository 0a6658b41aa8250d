"""The memory of connections."""

import gc
from asyncio.sslproto import SSLProtocol
from typing import Any

from reporter.kube.connections import TLS_BUFFER_BYTES
from tests.integration.kube.credentials_fixture import only, who
from tests.support.stubs.api_servers import a_kubeconfig, connected, serving
from tests.support.stubs.certificates import OLD_FORM, a_context, an_authority, issued


async def test_a_connection_keeps_a_small_buffer(tmp_path):
    authority = an_authority(tmp_path, "authority", OLD_FORM)
    context = a_context(*issued(tmp_path, authority, OLD_FORM))
    _, handler = only("one")
    async with serving(handler, ssl_context=context) as server:
        kubeconfig = a_kubeconfig(
            tmp_path,
            server.url,
            user={"token": "one"},
            **{"certificate-authority": str(authority[0])},
        )
        async with connected(kubeconfig) as api:
            assert await who(api) == "one"
            open_now: list[Any] = [e for e in gc.get_objects() if isinstance(e, SSLProtocol)]
            # Python may call it otherwise one day, and would then ignore the limit.
            sizes = {len(each._ssl_buffer) for each in open_now}
    assert sizes == {TLS_BUFFER_BYTES}
