"""
Authorities of a cluster that are accepted. Only Python 3.13 and newer are as strict by default.
"""

import subprocess

import pytest

from reporter.kube.errors import Unreachable
from tests.integration.kube.credentials_fixture import only, who
from tests.support.stubs.api_servers import a_kubeconfig, connected, serving
from tests.support.stubs.certificates import a_context


KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
OLD_FORM = ("basicConstraints=critical,CA:TRUE", "subjectKeyIdentifier=none")
"""Extensions of an authority as clusters made before about 2020 have it, without key usage."""


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def an_old_authority(folder, name):
    """Return the certificate and key of an authority with basicConstraints alone."""
    cert, key, config = (folder / f"{name}.{end}" for end in ("crt", "key", "cnf"))
    config.write_text(
        "[req]\ndistinguished_name=dn\nx509_extensions=ext\n[dn]\n[ext]\n"
        + "\n".join(each.replace("=", " = ", 1) for each in OLD_FORM)
    )
    named = ("-subj", f"/CN={name}", "-keyout", key, "-out", cert)
    openssl("req", "-x509", *KEY, "-config", config, "-days", 2, *named)
    return cert, key


def issued(folder, authority, *, address="127.0.0.1", days=2):
    """
    Return the certificate and key of a server, issued by an authority, without key identifiers.
    """
    cert, key, request, extensions = (folder / f"server.{e}" for e in ("crt", "key", "csr", "ext"))
    extensions.write_text(
        f"subjectAltName=IP:{address}\nsubjectKeyIdentifier=none\nauthorityKeyIdentifier=none\n"
    )
    openssl("req", "-new", *KEY, "-subj", "/CN=server", "-keyout", key, "-out", request)
    by = ("-CA", authority[0], "-CAkey", authority[1], "-CAcreateserial")
    to = ("-extfile", extensions, "-days", days, "-out", cert)
    openssl("x509", "-req", "-in", request, *by, *to)
    return cert, key


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
    authority = an_old_authority(tmp_path, "authority")
    assert await ask(tmp_path, authority, issued(tmp_path, authority)) == "one"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"address": "127.0.0.2"}, "(?i)ip address mismatch"),
        ({"days": -1}, "(?i)expired|not yet valid"),
    ],
    ids=["of another address", "expired"],
)
async def test_what_it_issued_is_verified_as_strictly(tmp_path, changes, error):
    authority = an_old_authority(tmp_path, "authority")
    with pytest.raises(Unreachable, match=error):
        await ask(tmp_path, authority, issued(tmp_path, authority, **changes))


async def test_a_server_of_another_authority_is_refused(tmp_path):
    trusted, other = an_old_authority(tmp_path, "trusted"), an_old_authority(tmp_path, "other")
    with pytest.raises(Unreachable, match=r"(?i)certificate verify failed"):
        await ask(tmp_path, trusted, issued(tmp_path, other))
