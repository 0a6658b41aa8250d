"""
The recorded stories among the cases: their steps are made anew with each recording, and all else, such
as what must be announced, is written by hand.
"""

import difflib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import yaml

from e2e.controllers import programs
from e2e.controlplane import Json


FOLDER = Path(__file__).parents[2] / "tests" / "cases"
WRITTEN_BY_HAND = ("announced", "status", "notes", "until")
_HEALTHY = (
    "InferenceSet team-m/qwen",
    "Workspace team-m/qwen-7rk2p",
    "Pod team-m/qwen-7rk2p-0",
)
"""The model of the stack of every story, which the recorded one replaces."""


def path(name: str) -> Path:
    return FOLDER / f"recorded-{name}.yaml"


def write(name: str, head: Json, steps: Sequence[Json], names: Sequence[str]) -> str:
    """
    Write the story with these steps. *head*: its other keys, but for those that are written by hand.

    Returns the difference to what it was before.
    """
    file = path(name)
    before = file.read_text("utf-8") if file.exists() else ""
    kept = yaml.safe_load(before) or {}
    made: Json = {
        **head,
        "given": {"change": dict.fromkeys(_HEALTHY)},
        "story": list(steps),
    }
    by_hand = {"announced": {}} | {key: kept[key] for key in WRITTEN_BY_HAND if key in kept}
    text = _heading(names) + _yaml(made, flow=None) + _yaml(by_hand, flow=False)
    file.write_text(text, "utf-8")
    lines = difflib.unified_diff(
        *(before.splitlines(), text.splitlines(), f"{file.name} before", file.name),
        lineterm="",
        n=2,
    )
    return "\n".join(lines)


def _yaml(content: Json, *, flow: bool | None) -> str:
    """Return YAML. *flow*: None for braces around what has only plain values."""
    return yaml.dump(
        content,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=flow,
        width=120,
        allow_unicode=True,
    )


def _heading(names: Sequence[str]) -> str:
    versions = ", ".join(f"{each} {programs.version(each)}" for each in names)
    today = datetime.now(UTC).date().isoformat()
    return (
        f"# Recorded on {today} with {versions}. `make record` renews given and story;\n"
        "# the rest is written by hand.\n"
    )


class _Dumper(yaml.SafeDumper):
    """Writes each value anew, without anchors."""

    def ignore_aliases(self, data: object) -> bool:
        return True
