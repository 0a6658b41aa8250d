"""
The recorded stories among the cases: a recording makes their steps anew, and keeps what must be announced,
which was filled from a replay, read and corrected.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import yaml

from e2e.controllers import programs
from e2e.controlplane import Json
from reporter.stories.format import apply_merge_patch


FOLDER = Path(__file__).parents[2] / "tests" / "cases"
_YET_TO_COME = ("AwaitingReconciliation", "ReconcilingDependents")
KEPT = ("announced", "status", "notes", "until")
HEALTHY_MODEL = (
    "InferenceSet team-m/qwen",
    "Workspace team-m/qwen-7rk2p",
    "Pod team-m/qwen-7rk2p-0",
)
"""The model of the stack of every story, which the recorded one replaces."""


def path(name: str) -> Path:
    return FOLDER / f"recorded-{name}.yaml"


def write(name: str, head: Json, steps: Sequence[Json], names: Sequence[str]) -> str:
    """
    Write the story with these steps, if other words than before stay, or the controllers are others.

    *head*: its other keys, but for those that are KEPT. Returns how it differs, also in words that pass.
    """
    file = path(name)
    before = file.read_text("utf-8") if file.exists() else ""
    kept = yaml.safe_load(before) or {}
    made: Json = {
        **head,
        "story": list(steps),
    }
    differing, passing = _differences(kept, made), _passing_differences(kept, made)
    versions = versions_of(names)
    if not differing and versions in before:
        return "\n".join([f"{file.name}: as recorded", *passing])
    all_else = {"announced": {}} | {key: kept[key] for key in KEPT if key in kept}
    file.write_text(
        _heading(versions) + _yaml(made, flow=None) + _yaml(all_else, flow=False), "utf-8"
    )
    return "\n".join([f"{file.name}: written anew with {versions}", *differing, *passing])


def _differences(kept: Json, made: Json) -> list[str]:
    """
    Return what one of two stories has and the other has not: words that stay, acts, and other keys.

    Controllers race with each other, so that what they write for a moment, and its order, is never the same.
    """
    before, now = lasting_words(kept.get("story", [])), lasting_words(made["story"])
    keys = [key for key in made if key != "story" and made[key] != kept.get(key)]
    return [
        *(f"  - {each}" for each in sorted(before - now)),
        *(f"  + {each}" for each in sorted(now - before)),
        *(f"  {key} differs" for key in keys),
    ]


def _passing_differences(kept: Json, made: Json) -> list[str]:
    """Return the words that only one of two stories has for a moment, and the other never."""
    before, now = kept.get("story", []), made["story"]
    lost = words(before) - words(now) - lasting_words(before)
    new = words(now) - words(before) - lasting_words(now)
    return [
        f"  {sign} for a moment: {each}"
        for sign, told in (("-", lost), ("+", new))
        for each in sorted(told)
    ]


def words(steps: Iterable[Json]) -> frozenset[str]:
    """Return each state of a condition with its reason, and its message without numbers."""
    changes = [step["change"] for step in steps]
    return frozenset[str]().union(*(_words_of(each) for each in changes))


def lasting_words(steps: Iterable[Json]) -> frozenset[str]:
    """Return each act, and the words that stand when the next one begins, or at the end."""
    found: set[str] = set()
    states: Json = {}
    for step in steps:
        if "what" in step:
            found |= {step["what"], *_words_of(states)}
        states = apply_merge_patch(states, step["change"])
    return frozenset(found | _words_of(states))


def _words_of(states: Json) -> frozenset[str]:
    """
    Return the words of some objects, each with the kind of its object.

    What Karpenter has yet to look at is left out: how much of it is seen differs each time.
    """
    return frozenset(
        f"{address.split()[0]} {_told(each)}"
        for address, content in states.items()
        for each in ((content or {}).get("status") or {}).get("conditions") or ()
        if each.get("reason") not in _YET_TO_COME
    )


def _told(condition: Json) -> str:
    told = f"{condition['type']}={condition['status']} {condition.get('reason', '')}"
    message = condition.get("message", "")
    return f"{told}: {re.sub('[0-9]+', 'N', message)}" if message else told


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


def versions_of(names: Sequence[str]) -> str:
    """Return the programs with their versions, as the heading of a story has them."""
    return ", ".join(f"{each} {programs.version(each)}" for each in names)


def _heading(versions: str) -> str:
    today = datetime.now(UTC).date().isoformat()
    return (
        f"# Recorded on {today} with {versions}. `make record` renews all but announced,\n"
        "# status, notes and until, whose lines and times come from a replay, and were corrected.\n"
    )


class _Dumper(yaml.SafeDumper):
    """Writes each value anew, without anchors."""

    def ignore_aliases(self, data: object) -> bool:
        return True
