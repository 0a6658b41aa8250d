"""The write of one Event, create or patch, never without the lease; and the log of failures."""

import logging
from collections.abc import Callable
from typing import Any, Protocol

from msgspec.structs import replace

from reporter.kube import errors
from reporter.kube.event_record import EventRecord, PossibleKeysFunc, WriteResult
from reporter.kube.leader_writer import Attempt
from reporter.kube.leadership import Leadership


logger = logging.getLogger(__name__)


class EventSink(Protocol):
    """The Events of this program in the cluster; raises KubeErrors."""

    async def create(self, record: EventRecord) -> None:
        """
        Create the Event; Conflict if one of its name exists, as after a write that seemed to fail.
        """

    async def patch(self, record: EventRecord) -> None:
        """
        Replace the content of the Event by its name; NotFound if the API server has let it expire.
        """

    async def read(self, record: EventRecord) -> EventRecord | None:
        """
        Return the Event with the name of *record*, which identifies its episode; None if there is none.
        """

    async def list(self, possible_keys: PossibleKeysFunc) -> tuple[EventRecord, ...]:
        """
        Return the Events of this program that can be continued; *possible_keys* finds the key of each.
        """


class EventWriter:
    """
    Brings a record into the cluster, whatever is there already.

    *count_write* counts every request that succeeded, and patches that found no Event.
    """

    def __init__(
        self,
        sink: EventSink,
        leadership: Leadership,
        *,
        count_write: Callable[[WriteResult], None],
    ) -> None:
        self._sink, self._leadership, self._count_write = sink, leadership, count_write

    async def write(self, record: EventRecord) -> EventRecord:
        """
        Create or patch the Event; returns the record as it is in the cluster then.

        Raises a KubeError, which is Unreachable if the lease ends before a further request.
        """
        if record.count > 1:
            try:
                await self._sink.patch(record)
            except errors.NotFound:
                self._count_write(WriteResult.EXPIRED)
                self._ensure_leading()
                # Exporters skip an Event that is new but has an old firstTimestamp.
                record = replace(record, first_timestamp=record.last_timestamp)
            else:
                self._count_write(WriteResult.PATCHED)
                return record
        try:
            await self._sink.create(record)
        except errors.Conflict:
            return await self._patch_existing(record)
        self._count_write(WriteResult.CREATED)
        return record

    async def _patch_existing(self, record: EventRecord) -> EventRecord:
        """
        Patch an Event of the same name: an earlier create had arrived, or another leader wrote it.
        """
        existing = await self._sink.read(record)
        if existing is None:
            raise errors.Unreachable(
                f"create Event of {record.key}",
                message="the server says that it exists, and that it does not",
            )
        if existing.message == record.message and existing.content_digest in {
            record.content_digest,
            "",
        }:
            self._count_write(WriteResult.FOUND)
            return replace(existing, content_digest=record.content_digest)
        self._ensure_leading()
        merged = existing.rewrite(record.message, record.content_digest, now=record.last_timestamp)
        await self._sink.patch(merged)
        self._count_write(WriteResult.PATCHED)
        return merged

    def _ensure_leading(self) -> None:
        if not self._leadership.holds_lease():
            raise errors.Unreachable(
                "write an Event", message="the lease was lost during the write"
            )


class EventWriteLog:
    """
    Counts and logs what becomes of writes. *is_quiet*: another log names the same failures.

    A refusal is logged once per (reason, verb, cause) until such a write succeeds. Its text is not
    part of the key: the numbers in a quota's text change.
    """

    def __init__(
        self, count_write: Callable[[WriteResult], None], *, is_quiet: bool = False
    ) -> None:
        self._count_write, self._is_quiet = count_write, is_quiet
        self._refused: set[tuple[str, bool, str]] = set()

    def written(self, attempt: Attempt[Any, EventRecord]) -> None:
        """
        Log that an Event that failed before is written, and end the silence about refusals of its kind.
        """
        kind = _write_kind(attempt.write)
        self._refused = {each for each in self._refused if each[:2] != kind}
        if attempt.failures and not self._is_quiet:
            text = "%s: its Event is written, after %d failed tries"
            logger.info(text, attempt.key, attempt.failures)

    def failed(self, attempt: Attempt[Any, EventRecord], err: errors.KubeError) -> None:
        """
        Count the failure by its KubeError, and log it: at the first try of several as a warning.

        Throttling is logged for debugging alone, and an invalid Event as a bug of this program.
        """
        # Only the first of several failures in a row is a warning.
        is_warning = not (self._is_quiet or attempt.failures)
        level = logging.WARNING if is_warning else logging.DEBUG
        match err:
            case errors.Invalid():
                self._count_write(WriteResult.DROPPED)
                text = "an Event is invalid, which is a bug of this program; dropped: %s"
                logger.error(text, err)
            case errors.Refused():
                self._count_write(WriteResult.REFUSED)
                self._log_refusal(attempt.write, err)
            case errors.Throttled():
                self._count_write(WriteResult.THROTTLED)
                logger.debug("%s", err)
            case errors.Unreachable(may_have_applied=True):
                self._count_write(WriteResult.UNCERTAIN)
                logger.log(level, "%s; it is sent again under the same name", err)
            case _:
                self._count_write(WriteResult.FAILED)
                logger.log(level, "%s; it is tried again", err)

    def _log_refusal(self, record: EventRecord, err: errors.Refused) -> None:
        cause = err.missing_permission or f"HTTP {err.status}"
        refusal = (*_write_kind(record), cause)
        if refusal not in self._refused:
            self._refused.add(refusal)
            logger.error("%s was refused: %s; it is tried again", record.key.reason, err)


def _write_kind(record: EventRecord) -> tuple[str, bool]:
    """
    The reason, and whether the write is a patch: create and patch need different permissions.
    """
    return (record.key.reason, record.count > 1)
