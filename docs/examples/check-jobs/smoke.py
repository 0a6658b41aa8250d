"""
Ask the model one question through its Gateway, and write the result for the job-status container.

MODEL_URL: address of the Gateway, such as http://team-a-gw-istio.team-a.svc.cluster.local
MODEL: the model's name in requests
API_KEY: key of the Gateway, if it asks for one
TIMEOUT: seconds to wait for the answer (60)
RESULTS_PATH: file with the result (/results/adapter-result.json)

Needs Python and nothing else. A result that says "failure" is a result too: the exit code is 0.
"""

import http.client
import json
import os
import urllib.error
import urllib.request
from pathlib import Path


QUESTION = "Answer with one word: are you ready?"
QUOTED = 300


def ask(url: str, model: str, key: str, timeout: float) -> tuple[str, str, str]:
    """Return status, reason and message of the result."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": QUESTION}],
        "max_tokens": 64,
    }
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), headers
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            text = answer.read().decode(errors="replace")
    except urllib.error.HTTPError as err:
        quoted = err.read(QUOTED).decode(errors="replace")
        return "failure", "NoAnswer", f"the Gateway answered {err.code}: {quoted}"
    except (OSError, http.client.HTTPException) as err:
        return "failure", "NotReachable", f"the Gateway does not answer: {err}"
    try:
        content = json.loads(text)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError):
        content = None
    if not content:
        return "failure", "EmptyAnswer", f"the model answered without a text: {text[:QUOTED]}"
    return "success", "Answered", "the model answered"


def main() -> None:
    status, reason, message = ask(
        os.environ["MODEL_URL"],
        os.environ["MODEL"],
        os.environ.get("API_KEY", ""),
        float(os.environ.get("TIMEOUT", "60")),
    )
    path = Path(os.environ.get("RESULTS_PATH", "/results/adapter-result.json"))
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps({"status": status, "reason": reason, "message": message}))
    # The file appears at once and whole.
    new.replace(path)


if __name__ == "__main__":
    main()
