"""Ask each context for its status, all at the same time."""

import asyncio
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reporter.cli.arguments.parser import REPEAT, Arguments
from reporter.cli.arguments.source_flag import FILE, KUBECONFIG
from reporter.cli.asking.sources import SourceOpener
from reporter.cli.asking.terminal import Terminal
from reporter.model.rollup.states import State
from reporter.runtime.status.source import CannotAsk, StatusAnswer, Target
from reporter.runtime.status.summary import summarize
from reporter.settings import SettingsError
from reporter.settings.errors import ConfigurationError


CLUSTER = "cluster"


class CheckedCluster(Struct, frozen=True):
    """The answer of one context. *error*: why there is none."""

    name: str
    answer: StatusAnswer | None = None
    error: str = ""

    def worst(self, target: Target) -> State | None:
        """Return the worst state of what was asked about; None without an answer."""
        return None if self.answer is None else summarize(self.answer, target).worst


class CheckRun:
    """One evaluation of every context. Raises SettingsError."""

    def __init__(
        self, arguments: Arguments, target: Target, environ: Mapping[str, str], terminal: Terminal
    ) -> None:
        self._target, self._terminal = target, terminal
        place = arguments.values["from"]
        source = place if place == CLUSTER or place.startswith(FILE) else f"{FILE}{place}"
        contexts = list(dict.fromkeys(arguments.values["context"].split(REPEAT)))
        if source != CLUSTER and len(contexts) > 1:
            raise SettingsError("--context", "a dump is of one cluster; leave it out")
        values = {**arguments.values, "from": source, "reporter-namespace": ""}
        self._openers = {
            context or _name(arguments, source): SourceOpener(
                replace(arguments, values={**values, "context": context}),
                target,
                environ,
                terminal,
            )
            for context in contexts
        }

    async def ask_all(self) -> Sequence[CheckedCluster]:
        """
        Return the answers in the order of the contexts. Raises SettingsError and ConfigurationError.
        """
        tasks = [
            asyncio.create_task(self._ask(name, opener), name=f"check {name}")
            for name, opener in self._openers.items()
        ]
        try:
            return [await task for task in tasks]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _ask(self, name: str, opener: SourceOpener) -> CheckedCluster:
        try:
            source = await opener.open()
            try:
                return CheckedCluster(name, await source.ask(self._target))
            finally:
                await source.close()
        except CannotAsk as err:
            return CheckedCluster(name, error=str(err))
        except ConfigurationError as err:
            # That of a dump names it already.
            if str(err).startswith(name):
                raise
            raise ConfigurationError(f"{name}: {err}") from err


def _name(arguments: Arguments, source: str) -> str:
    """Return how a cluster without a given context is called."""
    given = [each for each in arguments.run_flags if each.startswith(f"--{KUBECONFIG}=")]
    if source != CLUSTER:
        return source.removeprefix(FILE)
    return given[-1].partition("=")[2] if given else "current context"
