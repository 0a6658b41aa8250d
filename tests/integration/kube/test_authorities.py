"""
Authorities of a cluster that are accepted. Only Python 3.13 and newer are as strict by default.
"""

import pytest

from reporter.kube.errors import Unreachable
from tests.integration.kube.credentials_fixture import only, who
from tests.support.stubs.api_servers import a_kubeconfig, connected, serving
from tests.support.stubs.certificates import OLD_FORM, a_context, an_authority, issued


async def ask(folder, authority, server_cert):
    _, handler = only("one")
    async with serving(handler, ssl_context=a_context(*server_cert)) as server:
        kubeconfig = a_kubeconfig(
            folder,
            server.url,
            user={"token": "one"},
            **{"certificate-authority": str(authority[0])},
        )
        async with connected(kubeconfig) as api:
            return await who(api)


async def test_an_authority_without_key_usage_and_key_identifiers_is_accepted(tmp_path):
    authority = an_authority(tmp_path, "authority", OLD_FORM)
    assert await ask(tmp_path, authority, issued(tmp_path, authority, OLD_FORM)) == "one"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"names": ("IP:127.0.0.2",)}, "(?i)ip address mismatch"),
        ({"days": -1}, "(?i)expired|not yet valid"),
    ],
    ids=["of another address", "expired"],
)
async def test_what_it_issued_is_verified_as_strictly(tmp_path, changes, error):
    authority = an_authority(tmp_path, "authority", OLD_FORM)
    with pytest.raises(Unreachable, match=error):
        await ask(tmp_path, authority, issued(tmp_path, authority, OLD_FORM, **changes))


async def test_a_server_of_another_authority_is_refused(tmp_path):
    trusted, other = (an_authority(tmp_path, name, OLD_FORM) for name in ("trusted", "other"))
    with pytest.raises(Unreachable, match=r"(?i)certificate verify failed"):
        await ask(tmp_path, trusted, issued(tmp_path, other, OLD_FORM))
