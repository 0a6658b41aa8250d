"""A recording of what controllers write while a test acts: each state of each object, in the order of the watches."""

import http.client
import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from socket import SHUT_RDWR
from typing import Any

import msgspec

from e2e.controlplane import ControlPlane, Json
from reporter.kinds.core import NODES, PODS
from reporter.kinds.kaito import INFERENCE_SETS, WORKSPACES
from reporter.kinds.karpenter import NODE_CLAIMS, NODE_POOLS
from reporter.kinds.keda import HORIZONTAL_POD_AUTOSCALERS, SCALED_OBJECTS
from reporter.kinds.resource_kind import ResourceKind
from reporter.stories.built_objects import as_content
from reporter.stories.format import START


KINDS = (
    INFERENCE_SETS,
    WORKSPACES,
    PODS,
    NODES,
    NODE_POOLS,
    NODE_CLAIMS,
    SCALED_OBJECTS,
    HORIZONTAL_POD_AUTOSCALERS,
)
UNSET: tuple[Any, ...] = (None, "", 0, False, {}, [])
_HASHES = ("/hash", "/revision")
"""Ends of annotations with KAITO's own book-keeping, which differs with each namespace."""

_LABELS = ("kaito.sh/", "apps.kubernetes.io/", "controller-revision-hash")
"""Parts of the labels that are kept: a Node has dozens, which nobody reads."""

_OWN_NAMES = frozenset({"uid", "creationTimestamp", "name", "namespace"})
"""Metadata that a story makes itself."""


@dataclass(frozen=True)
class Act:
    """Something that a test does. *at*: its time in the story. *began*: when it was done."""

    at: timedelta
    what: str
    began: datetime


@dataclass(frozen=True)
class Sighting:
    """A state of an object, as the program reads it; None for one that is gone."""

    seen: datetime
    kind: ResourceKind
    namespace: str
    name: str
    content: Json | None

    @property
    def address(self) -> str:
        """The address of the object in a story."""
        return f"{self.kind.kind} {self.namespace}/{self.name}".replace(" /", " ")


@dataclass
class Recording:
    """
    The acts, and the states of the objects of one namespace and of those that name it.

    *names*: what is put in place of a name that a controller made up, by that name.
    """

    namespace: str
    acts: list[Act] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)

    def begin(self, at: timedelta, what: str) -> None:
        self.acts.append(Act(at, what, datetime.now(UTC)))

    def add(self, kind: ResourceKind, change: str, raw: Json) -> None:
        metadata = raw["metadata"]
        if self.namespace not in json.dumps([metadata, raw.get("spec")]):
            return
        if kind is PODS and "kaito.sh/workspace" not in metadata.get("labels", {}):
            return
        content = None if change == "DELETED" else reduced(kind, raw)
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        self.sightings.append(Sighting(datetime.now(UTC), kind, namespace, name, content))


def reduced(kind: ResourceKind, raw: Json) -> Json:
    """Return of an object what the program reads, without what a story makes itself."""
    read = as_content(msgspec.json.decode(msgspec.json.encode(raw), type=kind.type))
    content: Json = _without_unset(read)
    for name in _OWN_NAMES:
        content["metadata"].pop(name, None)
    _keep(content["metadata"], "annotations", lambda each: not each.endswith(_HASHES))
    _keep(content["metadata"], "labels", lambda each: any(part in each for part in _LABELS))
    return content


def _keep(metadata: Json, part: str, wanted: Callable[[str], bool]) -> None:
    kept = {key: text for key, text in metadata.pop(part, {}).items() if wanted(key)}
    if kept:
        metadata[part] = kept


def _without_unset(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _without_unset(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in UNSET or each is True}
    if isinstance(value, list | tuple):
        return [_without_unset(each) for each in value]
    return value


@contextmanager
def recording(
    plane: ControlPlane, namespace: str, kinds: Sequence[ResourceKind] = KINDS
) -> Iterator[Recording]:
    """Record until the end of the block. Raises what ended a watch before."""
    made = Recording(namespace)
    watches = [_Watch(plane, kind, made) for kind in kinds]
    for each in watches:
        each.start()
    try:
        yield made
    finally:
        for each in watches:
            each.end()
    for each in watches:
        each.check()


_ENDS = (OSError, ValueError, http.client.HTTPException)


class _Watch(threading.Thread):
    def __init__(self, plane: ControlPlane, kind: ResourceKind, made: Recording) -> None:
        super().__init__(daemon=True)
        root = f"/apis/{kind.group}" if kind.group else "/api"
        self._kind, self._made, self._token = kind, made, plane.client.token
        self._path = f"{root}/{kind.versions[0]}/{kind.resource}"
        tls = ssl.create_default_context(cafile=str(plane.client.ca_file))
        port = plane.client.port
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, context=tls)
        self._connection.connect()
        self._socket = self._connection.sock
        self._ending = False
        self._failure: Exception | None = None

    def run(self) -> None:
        try:
            with closing(self._connection):
                self._read()
        except (AssertionError, KeyError, msgspec.MsgspecError, *_ENDS) as err:
            # The end shuts the socket down, which ends the list of lines in one of several ways.
            if not (self._ending and isinstance(err, _ENDS)):
                self._failure = err

    def _read(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        self._connection.request("GET", f"{self._path}?watch=1", headers=headers)
        with self._connection.getresponse() as answer:
            assert answer.status == http.client.OK, f"{self._path}: {answer.status}"
            for line in answer:
                event = json.loads(line)
                assert event["type"] != "ERROR", f"{self._path}: {event['object']}"
                self._made.add(self._kind, event["type"], event["object"])
        assert self._ending, f"{self._path}: the watch has ended"

    def end(self) -> None:
        self._ending = True
        with suppress(OSError):  # it is closed already
            self._socket.shutdown(SHUT_RDWR)
        self.join()

    def check(self) -> None:
        if self._failure is not None:
            raise self._failure


# --------------------------------------------------------------------
# The steps of a story.


RECORDED_NAMESPACE, RECORDED_MODEL = "team-m", "qwen"

GRID = timedelta(seconds=5)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


def story_steps(made: Recording) -> Sequence[Json]:
    """
    Return the steps of a story, with names that every recording has and the times of the story.

    Times are cut to those of GRID, so that two recordings differ less; what follows there keeps its order.
    """
    names = _given_names(made)
    states: dict[str, Any] = {}
    steps: list[Json] = []
    for sighting in made.sightings:
        told = json.loads(_renamed(json.dumps(sighting.content), names))
        told = _with_story_times(told, made.acts, sighting.seen)
        address = _renamed(sighting.address, names)
        patch = difference(states.get(address), told)
        if patch == {} or (told is None and address not in states):
            continue
        if told is None:
            del states[address]
        else:
            states[address] = told
        _put(steps, _on_grid(_moment(made.acts, sighting.seen)), address, patch)
    return _described(steps, made.acts)


def _put(steps: list[Json], at: timedelta, address: str, patch: Any) -> None:
    """Add a change to the last step of its time, or to a new one if that has one of the object."""
    last = steps[-1] if steps else None
    if last is not None and last["at"] == at and address not in last["change"]:
        last["change"][address] = patch
    else:
        steps.append({"at": at, "change": {address: patch}})


def _described(steps: list[Json], acts: Sequence[Act]) -> list[Json]:
    left = list(acts)
    found = []
    for step in steps:
        what = []
        while left and left[0].at <= step["at"]:
            what.append(left.pop(0).what)
        told = {"what": what[-1]} if what else {}
        found.append({"at": format_at(step["at"]), **told, "change": step["change"]})
    return found


def format_at(at: timedelta) -> str:
    minutes, seconds = divmod(int(at.total_seconds()), 60)
    return (f"{minutes}m" if minutes else "") + (f"{seconds}s" if seconds or not minutes else "")


def _moment(acts: Sequence[Act], when: datetime) -> timedelta:
    """Return the time in the story of a real time; what was before all acts happens at the first."""
    before = [each for each in acts if each.began <= when]
    act = before[-1] if before else acts[0]
    return max(act.at, act.at + (when - act.began))


def _on_grid(at: timedelta) -> timedelta:
    return at - at % GRID


def _with_story_times(value: Any, acts: Sequence[Act], seen: datetime) -> Any:
    """Put times of the story in place of real ones. *seen*: when the value was there."""
    if isinstance(value, dict):
        return {key: _with_story_times(each, acts, seen) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_story_times(each, acts, seen) for each in value]
    if isinstance(value, str) and _TIME.fullmatch(value):
        real = datetime.fromisoformat(value)
        # Times of the API are whole seconds, cut off: it was in that second, and not after it was seen.
        latest = real + timedelta(seconds=0.999)
        told = START + _on_grid(_moment(acts, latest if real > seen else min(latest, seen)))
        return told.strftime("%Y-%m-%dT%H:%M:%SZ")
    return value


def _given_names(made: Recording) -> dict[str, str]:
    """Return the names of a story by those that a controller made up, the longest first."""
    given = {made.namespace: RECORDED_NAMESPACE}
    short = {"Workspace": f"{RECORDED_MODEL}-w", "Node": "node-", "NodeClaim": "claim-"}
    counts = dict.fromkeys(short, 0)
    for each in made.sightings:
        kind = each.kind.kind
        if kind in short and each.name not in given:
            counts[kind] += 1
            given[each.name] = f"{short[kind]}{counts[kind]}"
    return dict(sorted(given.items(), key=lambda pair: -len(pair[0])))


def _renamed(text: str, names: dict[str, str]) -> str:
    for name, told in names.items():
        text = text.replace(name, told)
    return text


def difference(old: Any, new: Any) -> Any:
    """Return the JSON merge patch that makes *new* of *old*; {} for none."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return {} if old == new and old is not None else new
    patch: Json = {key: None for key in old if key not in new}
    for key, value in new.items():
        if key not in old:
            patch[key] = value
        elif old[key] != value:
            patch[key] = (
                difference(old[key], value)
                if isinstance(value, dict) and isinstance(old[key], dict)
                else value
            )
    return patch
