"""The users of the API server and their kubeconfigs."""

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from e2e.controlplane.options import Options


ADMIN = "admin"
_GROUPS = {
    ADMIN: "system:masters",
    "kwok": "system:masters",
    "system:kube-controller-manager": "",
    "system:kube-scheduler": "",
}
# An EC private key (RFC 5915) on P-256 that names its curve and leaves the public key out.
_EC_KEY_HEAD = bytes.fromhex("30310201010420")
_EC_KEY_TAIL = bytes.fromhex("a00a06082a8648ce3d030107")


@dataclass(frozen=True)
class Credentials:
    folder: Path
    options: Options = field(default_factory=Options)

    @cached_property
    def groups(self) -> Mapping[str, str]:
        """The group of each user that authenticates by a token."""
        return {**_GROUPS, **self.options.users}

    @cached_property
    def tokens(self) -> dict[str, str]:
        return {user: secrets.token_hex(16) for user in self.groups}

    @property
    def token_file(self) -> Path:
        return self.folder / "tokens.csv"

    @property
    def service_account_key(self) -> Path:
        return self.folder / "service-account.key"

    @property
    def certificates(self) -> Path:
        return self.folder / "certificates"

    @property
    def ca_file(self) -> Path:
        """Without a given CA the certificate that the API server writes at its first start and reuses later."""
        return self.options.ca_file or self.certificates / "apiserver.crt"

    def write(self) -> None:
        lines = [
            f'{token},{user},{user},"{self.groups[user]}"' for user, token in self.tokens.items()
        ]
        self.token_file.write_text("\n".join([*lines, ""]))
        scalar = bytes([secrets.randbelow(0x7F) + 1]) + secrets.token_bytes(31)
        body = base64.encodebytes(_EC_KEY_HEAD + scalar + _EC_KEY_TAIL).decode()
        self.service_account_key.write_text(
            f"-----BEGIN EC PRIVATE KEY-----\n{body}-----END EC PRIVATE KEY-----\n"
        )

    def kubeconfig(self, name: str, port: int, token: str) -> Path:
        certificate = base64.b64encode(self.ca_file.read_bytes()).decode()
        server = f"https://127.0.0.1:{port}"
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "e2e",
            "clusters": [
                {
                    "name": "e2e",
                    "cluster": {"server": server, "certificate-authority-data": certificate},
                }
            ],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": name}}],
        }
        path = self.folder / f"{name.replace(':', '-')}.kubeconfig"
        # Replaced at once: a process that was started before may read it now.
        new = path.with_suffix(f".{secrets.token_hex(4)}")
        new.write_text(json.dumps(content, indent=2))
        new.replace(path)
        return path
