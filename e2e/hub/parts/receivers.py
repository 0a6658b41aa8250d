"""The example of Alertmanager as it is, sending to a server of a test that stands for Slack and for PagerDuty."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import yaml

from e2e.hub.parts.pages import serving
from e2e.support.metrics_process import MetricsProcess


Json = dict[str, Any]
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "notifications" / "alertmanager.yaml"
PAGERDUTY = "PagerDuty"


class Alertmanager(MetricsProcess):
    """One that is no member of a cluster."""

    def _command(self) -> list[str]:
        return [
            self._plane.program("alertmanager"),
            f"--config.file={self._config}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            f"--storage.path={self.folder / 'data'}",
            "--cluster.listen-address=",
        ]


@dataclass(frozen=True, order=True)
class Message:
    """*to*: a channel, or PagerDuty. *status*: as the receiver is told. *text*: one line for each alert."""

    to: str
    status: str
    text: str


@dataclass
class Inbox:
    """The messages that were sent, in their order."""

    port: int
    messages: list[Message] = field(default_factory=list)


@contextlib.contextmanager
def inbox() -> Iterator[Inbox]:
    """Receive what Alertmanager sends."""
    received: list[Message] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.append(_of_slack(body) if "channel" in body else _of_pagerduty(body))
            answer = b'{"ok": true}'
            self.send_response(202 if received[-1].to == PAGERDUTY else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None: ...

    with serving(Handler) as port:
        yield Inbox(port, received)


def _of_slack(body: Json) -> Message:
    (found,) = body["attachments"]
    return Message(body["channel"], found["title"].split()[0], found["text"].strip())


def _of_pagerduty(body: Json) -> Message:
    return Message(PAGERDUTY, body["event_action"], body["payload"]["summary"])


def example(folder: Path, found: Inbox) -> Json:
    """Return the configuration with the address of the server, and with secrets that are files here."""
    config: Json = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    url = f"http://127.0.0.1:{found.port}/"
    slack, key = folder / "slack-url", folder / "pagerduty-key"
    slack.write_text(url)
    key.write_text("a-key")
    config["global"] |= {"slack_api_url_file": str(slack), "pagerduty_url": url}
    for receiver in config["receivers"]:
        for each in receiver.get("pagerduty_configs", ()):
            each["routing_key_file"] = str(key)
    return config
