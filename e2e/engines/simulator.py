"""The metrics page of llm-d-inference-sim, after a few answers."""

import json
import subprocess
import urllib.request
from contextlib import suppress

from e2e.controlplane import assets, pins, until
from e2e.engines.vllm_page import FINISHED, MODEL
from tests.support.ports import free_port


PROGRAM, MODULE = "llm-d-inference-sim", "github.com/llm-d/llm-d-inference-sim"
PAGE = "sim"


def version() -> str:
    return pins.version("simulator", MODULE).removeprefix("v")


def page() -> str:
    """Return the page of a new server that has answered some completions, and ends then."""
    port = free_port()
    words = [f"--port={port}", f"--model={MODEL}", "--force-dummy-tokenizer", "--mode=echo"]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [assets.program(PROGRAM), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: _answers(f"{url}/health"), within=60, what=f"{PROGRAM} listens")
        for _ in range(sum(FINISHED.values())):
            _complete(f"{url}/v1/completions")
        with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
            text: str = answer.read().decode()
        return text
    finally:
        process.kill()
        process.wait()


def _complete(url: str) -> None:
    body = json.dumps({"model": MODEL, "prompt": "a b c d", "max_tokens": 4}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        answer.read()


def _answers(url: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
        return bool(answer.status == 200)
    return False
