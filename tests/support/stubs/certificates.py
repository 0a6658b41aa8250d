"""Certificates of stub servers, and authorities as clusters have them."""

import ssl
import subprocess
from dataclasses import dataclass


KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True)
class Form:
    """The extensions of an authority, and of the certificates that it issues."""

    authority: tuple[str, ...]
    issued: tuple[str, ...]


CURRENT_FORM = Form(
    authority=(
        "basicConstraints=critical,CA:TRUE",
        "keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign",
        "subjectKeyIdentifier=hash",
    ),
    issued=(
        "basicConstraints=critical,CA:FALSE",
        "keyUsage=critical,digitalSignature,keyEncipherment",
        "extendedKeyUsage=serverAuth",
        "authorityKeyIdentifier=keyid",
    ),
)
"""The form of kubeadm."""

OLD_FORM = Form(
    authority=("basicConstraints=critical,CA:TRUE", "subjectKeyIdentifier=none"),
    issued=("subjectKeyIdentifier=none", "authorityKeyIdentifier=none"),
)
"""The form of clusters made before about 2020, without key usage and key identifiers."""


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def an_authority(folder, name, form):
    """Return the certificate and key of an authority."""
    cert, key, config = (folder / f"{name}.{end}" for end in ("crt", "key", "cnf"))
    config.write_text(
        "[req]\ndistinguished_name=dn\nx509_extensions=ext\n[dn]\n[ext]\n"
        + "\n".join(each.replace("=", " = ", 1) for each in form.authority)
    )
    named = ("-subj", f"/CN={name}", "-keyout", key, "-out", cert)
    openssl("req", "-x509", *KEY, "-config", config, "-days", 2, *named)
    return cert, key


def issued(folder, authority, form, *, names=("IP:127.0.0.1",), days=2):
    """Return the certificate and key of a server, issued by an authority."""
    cert, key, request, extensions = (folder / f"server.{e}" for e in ("crt", "key", "csr", "ext"))
    extensions.write_text("\n".join((f"subjectAltName={','.join(names)}", *form.issued, "")))
    openssl("req", "-new", *KEY, "-subj", "/CN=server", "-keyout", key, "-out", request)
    by = ("-CA", authority[0], "-CAkey", authority[1], "-CAcreateserial")
    to = ("-extfile", extensions, "-days", days, "-out", cert)
    openssl("x509", "-req", "-in", request, *by, *to)
    return cert, key


def a_certificate(folder, name):
    """A self-signed certificate for 127.0.0.1."""
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    usage = "keyUsage=critical,digitalSignature,keyCertSign"
    extensions = ("-addext", "subjectAltName=IP:127.0.0.1", "-addext", usage)
    named = ("-days", 2, "-subj", f"/CN={name}", "-keyout", key, "-out", cert)
    openssl("req", "-x509", *KEY, *extensions, *named)
    return cert, key


def a_context(cert, key):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    return context
