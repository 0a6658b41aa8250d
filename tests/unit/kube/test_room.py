"""
Who gets a place, and when.
"""

import asyncio

from reporter.kube.room import Room


class Turns:
    """
    Turns that stay in the room until they are told to leave; *inside* in the order of entering.
    """

    def __init__(self, room: Room) -> None:
        self.room = room
        self.inside: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.leave: dict[str, asyncio.Event] = {}

    async def ask(self, name: str, doubts: int) -> None:
        self.leave[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._turn(name, doubts))
        await self.settle()

    async def end(self, name: str) -> None:
        self.leave[name].set()
        await self.settle()

    async def cancel(self, name: str) -> None:
        self.tasks[name].cancel()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    async def _turn(self, name: str, doubts: int) -> None:
        async with self.room.place(doubts):
            self.inside.append(name)
            try:
                await self.leave[name].wait()
            finally:
                self.inside.remove(name)


async def test_turns_of_more_doubts_leave_places_to_those_of_fewer():
    turns = Turns(Room((4, 3, 2)))
    for name in "abc":
        await turns.ask(name, 2)
    assert turns.inside == ["a", "b"]
    await turns.ask("new", 1)
    await turns.ask("newer", 1)
    assert turns.inside == ["a", "b", "new"]
    await turns.ask("sure", 0)
    assert turns.inside == ["a", "b", "new", "sure"]


async def test_all_places_are_for_those_without_doubts_if_nobody_else_asks():
    turns = Turns(Room((3, 2, 1)))
    for name in "abcd":
        await turns.ask(name, 0)
    assert turns.inside == ["a", "b", "c"]
    await turns.end("b")
    assert turns.inside == ["a", "c", "d"]


async def test_nobody_waits_for_ever_for_those_that_come_again_and_again():
    turns = Turns(Room((1, 1, 1)))
    await turns.ask("sure", 0)
    await turns.ask("failed", 2)
    await turns.ask("surer", 0)
    await turns.end("sure")
    assert turns.inside == ["failed"]


async def test_a_turn_called_off_gives_its_place_back_whether_it_had_it_or_waited():
    turns = Turns(Room((2, 1)))
    for name in "abc":
        await turns.ask(name, 7)
    await turns.cancel("b")
    await turns.cancel("a")
    assert "c" in turns.inside
    await turns.end("c")
    await turns.ask("d", 1)
    assert "d" in turns.inside


async def test_of_the_hasty_the_last_that_came_is_let_in_first_and_before_all_others():
    turns = Turns(Room((3, 1), hasty=1))
    await turns.ask("a", 1)
    for name, doubts in {"failed": 2, "b": 1, "c": 1, "failed too": 2}.items():
        await turns.ask(name, doubts)
    order = []
    for _ in range(5):
        order += turns.inside
        await turns.end(order[-1])
    assert order == ["a", "c", "b", "failed", "failed too"]


async def test_who_was_read_before_does_not_wait_for_the_hasty():
    turns = Turns(Room((2, 2), hasty=1))
    for name, doubts in {"a": 0, "b": 0, "sure": 0, "new": 1}.items():
        await turns.ask(name, doubts)
    await turns.end("a")
    assert turns.inside == ["b", "sure"]


async def test_a_turn_called_off_as_it_is_let_in_gives_its_place_to_the_next():
    turns = Turns(Room((1,)))
    async with turns.room.place(0):
        await turns.ask("b", 0)
        await turns.ask("c", 0)
    await turns.cancel("b")
    assert turns.inside == ["c"]
