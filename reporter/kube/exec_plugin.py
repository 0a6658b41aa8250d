"""
Run credential plugins of a kubeconfig (client.authentication.k8s.io/v1 and v1beta1).

A plugin has a time limit, may write as much to stderr as it likes, and leads to an error when it fails.
"""

import asyncio
import base64
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from reporter.kube.decoding import decode_json
from reporter.kube.plain_text import clean_tail
from reporter.settings.errors import ConfigurationError


MAX_OUTPUT_BYTES = 2**20
"""Only the last bytes are kept of a longer output."""

LEFTOVER_SECONDS = 0.5
"""
Seconds for which output is awaited after the program has ended. A child that it leaves behind may
keep its streams open for ever.
"""


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """The end of a program, and the last bytes that it printed. *exit_code*: negative for a signal."""

    exit_code: int
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)


async def run_program(
    argv: Sequence[str], env: Mapping[str, str], *, limit: timedelta
) -> ProgramOutput:
    """
    Run a program without input and return what it printed until it ended.

    Raises OSError or ValueError if it cannot be run, and TimeoutError after *limit*.
    """
    async with _pipe() as (stdout, to_stdout), _pipe() as (stderr, to_stderr):
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                env=env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=to_stdout,
                stderr=to_stderr,
                start_new_session=True,
            )
        finally:
            os.close(to_stdout)
            os.close(to_stderr)
        exit_code = await _wait_for_exit(process, limit)
        await asyncio.wait({stdout.task, stderr.task}, timeout=LEFTOVER_SECONDS)
        return ProgramOutput(exit_code, bytes(stdout.kept), bytes(stderr.kept))


async def _wait_for_exit(process: asyncio.subprocess.Process, limit: timedelta) -> int:
    """Wait for the program; kill it with all its children when the time is over."""
    try:
        async with asyncio.timeout(limit.total_seconds()):
            return await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


class _Collector:
    """Reads a stream to its end, and keeps its last bytes."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self.kept = bytearray()
        self.task = asyncio.create_task(self._collect(reader), name="read output of a program")

    async def _collect(self, reader: asyncio.StreamReader) -> None:
        while chunk := await reader.read(MAX_OUTPUT_BYTES):
            self.kept += chunk
            del self.kept[:-MAX_OUTPUT_BYTES]


@asynccontextmanager
async def _pipe() -> AsyncIterator[tuple[_Collector, int]]:
    """
    Yield what arrives at one end of a pipe, and the other end, which the caller closes.

    asyncio's own pipes would make waiting for the program wait for its children's output as well.
    """
    reading, writing = os.pipe()
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb", 0)
    )
    collector = _Collector(reader)
    try:
        yield collector, writing
    finally:
        collector.task.cancel()
        transport.close()


EXEC_GROUP = "client.authentication.k8s.io"
SUPPORTED_VERSIONS = (f"{EXEC_GROUP}/v1", f"{EXEC_GROUP}/v1beta1")


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """
    A credential plugin of a kubeconfig.

    *env*: its whole environment, not only what the kubeconfig adds. *exec_info*: the ExecCredential that
    it gets as JSON in KUBERNETES_EXEC_INFO. *install_hint*: shown if it cannot be run.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    exec_info: Mapping[str, Any] = field(repr=False)
    install_hint: str = ""

    def __str__(self) -> str:
        return f"credential plugin {self.argv[0]}"


class ExecCredentialStatus(msgspec.Struct, rename="camel", frozen=True):
    """The status of an ExecCredential: a token, or a certificate and its key in PEM, or both."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None

    def __repr__(self) -> str:
        return f"ExecCredentialStatus(expires={self.expiration_timestamp})"

    @property
    def expires(self) -> datetime | None:
        """
        The expirationTimestamp, in UTC if it has no zone; None for a credential that does not expire.
        """
        at = self.expiration_timestamp
        return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


class _ExecCredential(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    status: ExecCredentialStatus | None = None


_CREDENTIAL_DECODER = msgspec.json.Decoder(_ExecCredential)


def parse_exec_config(
    spec: Mapping[str, Any],
    *,
    folder: Path,
    cluster: Mapping[str, Any],
    environ: Mapping[str, str],
) -> ExecPlugin:
    """Parse the ``exec`` section of a user; relative commands are resolved against *folder*."""
    try:
        command, version = str(spec.get("command") or ""), spec.get("apiVersion")
        if not command:
            raise ConfigurationError("kubeconfig: the exec section of the user has no command")
        if version not in SUPPORTED_VERSIONS:
            raise ConfigurationError(
                f"kubeconfig: the exec section of the user has apiVersion {version}; "
                f"use {' or '.join(SUPPORTED_VERSIONS)}"
            )
        if spec.get("interactiveMode") == "Always":
            raise ConfigurationError(
                f"kubeconfig: credential plugin {command} demands a terminal "
                "(interactiveMode Always); use credentials that need none"
            )
        if os.sep in command:
            command = str(folder / command)
        spec_fields: dict[str, Any] = {"interactive": False}
        if spec.get("provideClusterInfo"):
            spec_fields |= {"cluster": exec_cluster(cluster)}
        named = (each for each in spec.get("env") or () if "name" in each)
        variables = {str(each["name"]): str(each.get("value") or "") for each in named}
        return ExecPlugin(
            argv=(command, *(str(each) for each in spec.get("args") or ())),
            env={**environ, **variables},
            exec_info={"apiVersion": version, "kind": "ExecCredential", "spec": spec_fields},
            install_hint=str(spec.get("installHint") or ""),
        )
    except (AttributeError, KeyError, TypeError) as err:
        raise ConfigurationError("kubeconfig: the exec section of the user is malformed") from err


def exec_cluster(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Build ExecCredential.spec.cluster: the kubeconfig's cluster with file contents inlined."""
    kept = (
        "server",
        "tls-server-name",
        "insecure-skip-tls-verify",
        "certificate-authority-data",
        "proxy-url",
    )
    info = {name: cluster[name] for name in kept if cluster.get(name)}
    authority = cluster.get("certificate-authority")
    if authority and "certificate-authority-data" not in info:
        with suppress(OSError):
            info["certificate-authority-data"] = base64.b64encode(
                Path(authority).read_bytes()
            ).decode()
    for extension in cluster.get("extensions") or ():
        if extension.get("name") == f"{EXEC_GROUP}/exec":
            info["config"] = extension.get("extension")
    return info


async def run_exec_plugin(plugin: ExecPlugin, *, limit: timedelta) -> ExecCredentialStatus:
    """
    Run the plugin and return its credential.

    Raises ConfigurationError, with the end of stderr if the plugin fails, also for one that cannot be
    run, takes longer than *limit* or prints no valid credential.
    """
    info = json.dumps(plugin.exec_info)
    env = {**plugin.env, "KUBERNETES_EXEC_INFO": info}
    try:
        output = await run_program(plugin.argv, env, limit=limit)
    except TimeoutError:
        raise ConfigurationError(
            f"{plugin} gave no credentials within {limit.total_seconds():.0f} s; "
            "does it wait for a login at a terminal?"
        ) from None
    except (OSError, ValueError) as err:
        hint = f" ({clean_tail(plugin.install_hint)})" if plugin.install_hint else ""
        raise ConfigurationError(f"{plugin} cannot be run: {err}{hint}") from err
    if output.exit_code:
        message = clean_tail(output.stderr) or "it wrote nothing to stderr"
        raise ConfigurationError(f"{plugin} failed, exit code {output.exit_code}: {message}")
    return parse_exec_credential(plugin, output.stdout)


def parse_exec_credential(plugin: ExecPlugin, out: bytes) -> ExecCredentialStatus:
    """
    Return the status of the ExecCredential that the plugin printed.

    Raises ConfigurationError for output that is none, is of another version than was asked for, has
    neither token nor certificate, or a certificate without its key.
    """
    try:
        credential = decode_json(_CREDENTIAL_DECODER, out)
    except msgspec.DecodeError as err:
        raise ConfigurationError(f"{plugin} printed no ExecCredential: {err}") from None
    wanted = plugin.exec_info["apiVersion"]
    if credential.kind != "ExecCredential" or credential.api_version != wanted:
        raise ConfigurationError(
            f"{plugin} printed {credential.api_version} {credential.kind} instead of {wanted} ExecCredential"
        )
    status = credential.status or ExecCredentialStatus()
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise ConfigurationError(f"{plugin} printed a certificate without its key, or a key alone")
    if not status.token and not status.client_certificate_data:
        raise ConfigurationError(f"{plugin} printed neither a token nor a certificate")
    return status
