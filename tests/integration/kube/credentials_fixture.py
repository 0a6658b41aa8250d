"""Servers that accept certain tokens, and how often credentials are refreshed."""

import json
import stat
from datetime import timedelta

from reporter.kube.credentials import RefreshPolicy
from tests.support.stubs.api_servers import (
    a_json_response,
    a_status_response,
)


ALWAYS = RefreshPolicy(
    token_reload_interval=timedelta(0),
    expiry_margin=timedelta(0),
    min_plugin_interval=timedelta(0),
    max_wait=timedelta(minutes=1),
)
SELDOM = RefreshPolicy(
    token_reload_interval=timedelta(hours=1),
    min_plugin_interval=timedelta(0),
    max_wait=timedelta(minutes=1),
)
DATE = "Fri, 01 May 2026 12:00:00 GMT"


def only(*tokens):
    """Return the accepted tokens, which a test may change, and the handler that checks them."""
    known = list(tokens)

    async def handler(request):
        authorization = request.headers.get("Authorization", "")
        if authorization.removeprefix("Bearer ") in known:
            return a_json_response({"as": authorization}, Date=DATE)
        return a_status_response(401, "Unauthorized", "Unauthorized")

    return known, handler


async def who(api):
    return json.loads((await api.call("GET", "/version")).body)["as"].removeprefix("Bearer ")


def a_plugin(folder, script):
    path = folder / "plugin.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "./plugin.sh",
            "args": ["--a"],
            "env": [{"name": "COLOUR", "value": "red"}],
            "interactiveMode": "IfAvailable",
        }
    }


def printing(**status):
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": status,
    }
    return f"cat <<'END'\n{json.dumps(credential)}\nEND"
