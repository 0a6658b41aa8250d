"""The kubeconfig of the API server in memory, for kubectl and the reporter."""

import yaml


NAME = "devcluster"


def render_kubeconfig(url: str, token: str | None) -> str:
    user = {"token": token} if token else {}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": NAME,
            "clusters": [{"name": NAME, "cluster": {"server": url}}],
            "users": [{"name": NAME, "user": user}],
            "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        },
        sort_keys=False,
    )
