"""The order in which pages are read, and the budget of those that pass through the API server."""

from datetime import timedelta

from reporter.scrape.path import ScrapePath
from reporter.scrape.schedule import LastOutcome, ScrapeSlot
from reporter.scrape.scrapes import MetricsPage
from reporter.scrape.turns import ScrapeTurns


INTERVAL = timedelta(seconds=15)


def a_slot(name: str, tried_at: float | None = None) -> ScrapeSlot:
    slot = ScrapeSlot(MetricsPage("team-a", name, 5000), f"uid-{name}", 0.0, None)
    if tried_at is not None:
        slot.tried_at, slot.last_outcome = tried_at, LastOutcome.SUCCEEDED
    return slot


def read(turns: ScrapeTurns, now: float) -> list[str]:
    """Return the pods whose pages are read now, each at once."""
    names = []
    while (turn := turns.acquire(now)) is not None:
        names.append(turn.slot.page.pod)
        turn.release()
    return names


def test_through_the_api_server_the_least_recently_read_goes_first_once_a_second():
    turns = ScrapeTurns(512, 60)
    for slot in (a_slot("b", 20), a_slot("c", 30), a_slot("new"), a_slot("a", 10)):
        turns.enqueue(slot, ScrapePath.PROXY)
    assert [read(turns, now) for now in (100, 100.5, 101, 102, 103)] == [
        ["new"], [], ["a"], ["b"], ["c"],
    ]  # fmt: skip


def test_any_number_of_pages_is_read_sixty_times_a_minute_and_all_get_their_turn():
    turns = ScrapeTurns(512, 60)
    slots = [a_slot(f"p{number}", 0) for number in range(300)]
    for slot in slots:
        turns.enqueue(slot, ScrapePath.PROXY)
    found: list[str] = []
    for tick in range(3000):
        now = tick / 10
        while (turn := turns.acquire(now)) is not None:
            found.append(turn.slot.page.pod)
            turn.slot.tried_at = now
            turn.release()
            turns.enqueue(turn.slot, ScrapePath.PROXY)
    assert len(found) <= 300
    assert set(found) == {slot.page.pod for slot in slots}


def test_pages_at_their_own_address_need_no_turn():
    turns = ScrapeTurns(512, 60)
    for number in range(100):
        turns.enqueue(a_slot(f"p{number}", 0), ScrapePath.DIRECT)
    assert len(read(turns, 0)) == 100
    assert turns.seconds_until_turn(0) is None


def test_pages_that_wait_can_go_by_another_path():
    turns = ScrapeTurns(512, 60)
    turns.enqueue(a_slot("a", 10), ScrapePath.PROXY)
    assert read(turns, 0) == ["a"]
    turns.enqueue(a_slot("a", 10), ScrapePath.PROXY)
    assert turns.seconds_until_turn(0.25) == 0.75
    assert [slot.page.pod for slot in turns.drain_proxied()] == ["a"]
    assert turns.seconds_until_turn(0.25) is None


def test_the_age_of_a_page_follows_from_how_many_there_are():
    turns = ScrapeTurns(512, 60)

    def path_of(namespace: str, _: int) -> ScrapePath:
        return ScrapePath.PROXY if namespace == "far" else ScrapePath.DIRECT

    ages = turns.page_ages({("far", 5000): 2000, ("near", 5000): 9}, path_of, INTERVAL)
    assert ages == {ScrapePath.PROXY: timedelta(seconds=2000), ScrapePath.DIRECT: INTERVAL}
    assert turns.page_ages({("far", 5000): 3}, path_of, INTERVAL) == {ScrapePath.PROXY: INTERVAL}
