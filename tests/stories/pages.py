"""
What the metrics pages of a story's pods show, from the few words that a case file says of each.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from reporter.model.samples import Sample, Scrape, Unread
from reporter.stages.loading import is_loading
from reporter.stages.store import Store
from reporter.stages.windows import MEGABYTE, REMAINING
from tests.stories.words import each_of, merged, span


AMOUNT = re.compile(r"(\d+(?:\.\d+)?) (GB|MB/s)")
UNIT = {"GB": 1e9, "MB/s": MEGABYTE}
UNKNOWN = -1.0
"""
What remains before the first byte, while nothing arrives, and when the size is not known.
"""
WORDS = frozenset({"speed", "left", "remaining", "engine", "metric", "unreadable"})


def amount(text: str) -> float:
    """
    Bytes, or bytes a second.
    """
    found = AMOUNT.fullmatch(str(text))
    assert found is not None, f"{text!r} is no amount such as 40 GB or 3.5 MB/s"
    return float(found[1]) * UNIT[found[2]]


@dataclass
class Pages:
    """
    What was said of each page so far, by ``Pod namespace/name``; *left*: bytes, at that time.
    """

    metric: str
    said: dict[str, dict] = field(default_factory=dict)
    left: dict[str, tuple[float, datetime]] = field(default_factory=dict)

    def change(self, changes: Mapping[str, Mapping | None], *, now: datetime) -> None:
        for name, words in each_of(changes):
            assert name.startswith("Pod "), f"{name}: pods have pages"
            left = self._left(name, now=now) if name in self.left else None
            said = self.said.pop(name, {})
            self.left.pop(name, None)
            if words is None:
                continue
            unknown = words.keys() - WORDS
            assert not unknown, f"a page has no {', '.join(unknown)}"
            self.said[name] = merged(said, words)
            left = amount(words["left"]) if words.get("left") else left
            if left is not None and "left" in self.said[name]:
                self.left[name] = left, now

    def read(self, store: Store, *, now: datetime) -> None:
        """
        Those of pods that load a model, as the process does.
        """
        for name, words in self.said.items():
            pod = store.pod(*name.removeprefix("Pod ").split("/"))
            if pod is None or not is_loading(pod):
                continue
            if words.get("unreadable"):
                store.unread(pod, Unread(now, words["unreadable"]))
            else:
                store.sampled(pod, self._scrape(name, now=now))

    def _scrape(self, name: str, *, now: datetime) -> Scrape:
        samples = tuple(Sample(each, {}, value) for each, value in self._gauges(name, now=now))
        return Scrape(now, samples, engine=self.said[name].get("engine", False))

    def _gauges(self, name: str, *, now: datetime) -> Iterator[tuple[str, float]]:
        words = self.said[name]
        if words.get("metric", True):
            yield self.metric, amount(words["speed"]) if "speed" in words else 0.0
            yield REMAINING, self._remaining(name, now=now)

    def _remaining(self, name: str, *, now: datetime) -> float:
        """
        As the pod estimates it. Once all is there, it is 0 whatever the speed was last.
        """
        words = self.said[name]
        if "remaining" in words:
            return span(words["remaining"]).total_seconds()
        speed = amount(words.get("speed", "0 MB/s"))
        left = self._left(name, now=now) if name in self.left else None
        if left == 0:
            return 0.0
        return UNKNOWN if left is None or not speed else left / speed

    def _left(self, name: str, *, now: datetime) -> float:
        left, since = self.left[name]
        speed = amount(self.said[name].get("speed", "0 MB/s"))
        return max(left - speed * (now - since).total_seconds(), 0.0)
