"""
Windows of samples for tests, written as what a pod said second by second.
"""

from datetime import timedelta

from reporter.model.samples import Life, Sample, Scrape, Window
from reporter.stages.windows import REMAINING, Download, Rules, judge, taken
from tests.builders import NOON


SPEED = "kaito_model_download_speed_bytes_per_second"
MB = 1e6
RULES = Rules(
    speed=SPEED,
    span=timedelta(seconds=60),
    interval=timedelta(seconds=15),
    slow_below=20 * MB,
)
LIFE = Life("uid-1", 0)


def a_scrape(at: float, speed: float | None, remaining: float | None = None, **changes) -> Scrape:
    """
    *at* in seconds after noon, *speed* in MB/s; what remains is known while something arrives.
    """
    if remaining is None and speed is not None:
        remaining = 1000.0 if speed > 0 else -1.0
    said = {SPEED: None if speed is None else speed * MB, REMAINING: remaining}
    samples = tuple(Sample(name, {}, value) for name, value in said.items() if value is not None)
    return Scrape(NOON + timedelta(seconds=at), samples, **changes)


def a_window(*scrapes: Scrape, life: Life = LIFE, span: timedelta = RULES.span) -> Window:
    window = Window(life)
    for each in scrapes:
        window = taken(window, each, keep=span)
    return window


def steady(*speeds: float, every: float = 15, begin: float = 0) -> Window:
    """
    One sample after another, *speeds* in MB/s.
    """
    return a_window(*(a_scrape(begin + n * every, speed) for n, speed in enumerate(speeds)))


def judged(window: Window, rules: Rules = RULES) -> Download:
    return judge(window, rules)
