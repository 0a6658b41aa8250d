"""
An admission webhook on this machine: a real HTTPS server that the API server calls for each Event.
"""

import base64
import contextlib
import http.server
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from e2e.controlplane import ApiError, Client, Json, until


REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
EVENTS = "/api/v1/namespaces/kube-system/events"
NAME = "events.example.com"
RULE: Json = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["events"],
}


class AdmissionWebhook:
    """
    *response*: the response to each review, without its uid. *patch*: returns the JSON patch of an
    Event instead.
    """

    def __init__(self, folder: Path) -> None:
        self.response: Json = {"allowed": True}
        self.patches: list[Json] = []
        self.reviews = 0
        self._certificate, key = _self_signed(folder)
        webhook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None: ...

            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(webhook.answer(review)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def answer(self, review: Json) -> Json:
        self.reviews += 1
        response = {"uid": review["request"]["uid"], **self.response}
        if self.patches:
            found = review["request"]["object"]
            possible = [each for each in self.patches if _applies(each, found)]
            patch = base64.b64encode(json.dumps(possible).encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": patch}
        return {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": response,
        }

    def configuration(self) -> Json:
        """Return the webhook of a configuration; its failure policy is Fail, the default."""
        url = f"https://127.0.0.1:{self._server.server_port}/"
        authority = base64.b64encode(self._certificate.read_bytes()).decode()
        return {
            "name": NAME,
            "clientConfig": {"url": url, "caBundle": authority},
            "rules": [RULE],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 30,
        }

    def stop(self) -> None:
        """Stop listening; the API server then fails to call it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextlib.contextmanager
def refusing_webhook(
    client: Client, folder: Path, status: Json | None
) -> Iterator[AdmissionWebhook]:
    """Refuse every write of an Event with this *status*, or with none."""
    webhook = AdmissionWebhook(folder)
    webhook.response = {"allowed": False} | ({} if status is None else {"status": status})
    with _registered(client, "validatingwebhookconfigurations", webhook):
        until(lambda: _refusal(client), within=30, what="the webhook refuses Events")
        yield webhook
    until(lambda: not _refusal(client), within=30, what="Events are taken")


@contextlib.contextmanager
def mutating_webhook(
    client: Client, folder: Path, patches: list[Json]
) -> Iterator[AdmissionWebhook]:
    """Apply to every Event those of the JSON patches whose path it has."""
    webhook = AdmissionWebhook(folder)
    webhook.patches = patches
    with _registered(client, "mutatingwebhookconfigurations", webhook):
        until(
            lambda: _refusal(client) == "" and webhook.reviews,
            within=30,
            what="the webhook changes Events",
        )
        yield webhook


@contextlib.contextmanager
def _registered(client: Client, kind: str, webhook: AdmissionWebhook) -> Iterator[None]:
    path = f"{REGISTRATION}/{kind}"
    client.create(path, {"metadata": {"name": NAME}, "webhooks": [webhook.configuration()]})
    try:
        yield
    finally:
        client.delete(f"{path}/{NAME}")
        with contextlib.suppress(OSError):
            webhook.stop()


def _applies(patch: Json, found: Json) -> bool:
    place: Any = found
    for part in patch["path"].strip("/").split("/"):
        if part not in place:
            return False
        place = place[part]
    return True


def _refusal(client: Client) -> str:
    """Return why an Event would be refused; empty if it would be taken."""
    involved = {"kind": "Pod", "name": "none", "namespace": "kube-system"}
    event = {"metadata": {"generateName": "trial-"}, "reason": "Trial", "involvedObject": involved}
    try:
        client.create(f"{EVENTS}?dryRun=All", event)
    except ApiError as err:
        return err.body
    return ""


def _self_signed(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "webhook.crt", folder / "webhook.key"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    subject = ("-subj", "/CN=webhook", "-addext", "subjectAltName=IP:127.0.0.1")
    subprocess.run(
        [*command.split(), *subject, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    return certificate, key
