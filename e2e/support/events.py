"""The reporter's Events, read as its users read them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from e2e.controlplane import Client, ControlPlane, until


SOURCE = "productionstack-status-reporter"
PATH = "/api/v1/namespaces/kube-system/events"

Json = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """*involved*: kind and name. *version* changes with every write."""

    name: str
    type: str
    reason: str
    message: str
    count: int
    involved: tuple[str, str]
    first: str
    last: str
    uid: str
    version: str
    raw: Json = field(repr=False, compare=False)

    @classmethod
    def of(cls, raw: Json) -> Self:
        meta, involved = raw["metadata"], raw["involvedObject"]
        return cls(
            name=meta["name"],
            type=raw["type"],
            reason=raw["reason"],
            message=raw.get("message", ""),
            count=raw.get("count", 1),
            involved=(involved["kind"], involved["name"]),
            first=raw.get("firstTimestamp", ""),
            last=raw.get("lastTimestamp", ""),
            uid=meta["uid"],
            version=meta["resourceVersion"],
            raw=raw,
        )


def reporter_events(client: Client, reason: str = "", *, involved: str = "") -> list[Event]:
    """Return the reporter's Events, oldest first, with the field selectors that operators use."""
    selectors = [f"source={SOURCE}"]
    selectors += [f"reason={reason}"] if reason else []
    selectors += [f"involvedObject.name={involved}"] if involved else []
    found = client.list(PATH, fieldSelector=",".join(selectors))
    return sorted((Event.of(each) for each in found), key=lambda each: int(each.version))


def reasons(client: Client) -> list[str]:
    return [each.reason for each in reporter_events(client)]


def wait_for(
    client: Client,
    reason: str,
    *,
    within: float,
    containing: str = "",
    count: int = 1,
    besides: Iterable[Event] = (),
) -> Event:
    """
    Wait for the newest Event of this reason that contains the text, was written *count* times or
    more and is none of *besides*. Raises WaitTimeout with all Events instead.
    """
    known = {each.uid for each in besides}
    everything: list[Event] = []

    def read() -> Event | None:
        everything[:] = reporter_events(client)
        right = [
            each
            for each in everything
            if each.reason == reason
            and each.uid not in known
            and containing in each.message
            and each.count >= count
        ]
        return right[-1] if right else None

    try:
        return until(read, within=within, what=f"Event {reason} {containing!r} count {count}")
    except AssertionError as err:
        written = "\n".join(f"  {e.type} {e.reason} x{e.count}: {e.message}" for e in everything)
        raise AssertionError(f"{err}\nEvents written:\n{written or '  nothing'}") from None


def clear(client: Client) -> None:
    """Delete all Events that earlier tests caused."""
    for each in reporter_events(client):
        client.delete(f"{PATH}/{each.name}")


def table(plane: ControlPlane, *arguments: str) -> str:
    """Return the Events as kubectl prints them."""
    selector = f"--field-selector=source={SOURCE}"
    return plane.kubectl("get", "events", "--namespace=kube-system", selector, *arguments)
