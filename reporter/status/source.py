"""A source of the status, its answers, and why there may be none."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from reporter.model.status_document import NamespaceStatus, StatusDocument


ASK_INTERVAL = timedelta(seconds=1)
"""The pause between two questions, of which the second one waits for a change."""

LONGEST_PAUSE = timedelta(minutes=1)
"""
The longest Retry-After that is honoured, like BackoffParameters.max_retry_after.

A reporter asks for seconds; a proxy on the way may ask for days, and nothing would be shown meanwhile.
"""


class StatusQueryFailed(Exception):
    """
    The error of a question without an answer; the text says why and what to do.

    *may_pass*: asking again later may help, as with a server that restarts.
    *retry_after*: how long to wait before, if the server named a time. *pause*: that, or ASK_INTERVAL,
    and LONGEST_PAUSE at most.
    """

    def __init__(
        self, text: str, *, may_pass: bool = False, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(text)
        self.may_pass = may_pass
        self.pause = min(retry_after or ASK_INTERVAL, LONGEST_PAUSE)


class Target(Struct, frozen=True):
    """
    The subject of a question: everything, the control plane, a namespace, or one InferenceSet in it.
    """

    namespace: str = ""
    name: str = ""
    is_cluster: bool = False

    @property
    def is_everything(self) -> bool:
        """True without a name: the control plane and all workload namespaces are asked about."""
        return not self.namespace and not self.is_cluster

    def __str__(self) -> str:
        if self.name:
            return f"{self.namespace}/{self.name}"
        return self.namespace or "cluster"


EVERYTHING = Target()


Document = TypeVar("Document")


class Answer(Struct, Generic[Document], frozen=True):
    """
    An answer about a target, of a reporter, a hub, or what this program evaluates.

    *document*: None if the target is certainly not there; *missing* says so then, and *alike* is what
    there is of a similar name.
    *raw*: the document as JSON values, with keys that this release does not know.
    *tag*: changes with the content; empty if the source cannot wait for that. *notes*: what was not read
    and why.
    """

    document: Document | None
    raw: Any = None
    missing: str = ""
    alike: str = ""
    tag: str = ""
    notes: tuple[str, ...] = ()


class StatusAnswer(Answer[StatusDocument], frozen=True):
    """An answer about one cluster."""

    @property
    def namespace(self) -> NamespaceStatus | None:
        """
        The namespace of an answer about a namespace or an InferenceSet; None without a document.

        Of an answer about everything it is the first.
        """
        document = self.document
        return document.namespaces[0] if document is not None and document.namespaces else None


Asked_contra = TypeVar("Asked_contra", contravariant=True)
AnyAnswer = TypeVar("AnyAnswer", bound=Answer[Any])


class AnswerSource(Protocol[Asked_contra, AnyAnswer]):
    """
    A source of the status: a reporter, a hub, or a cluster or a dump that this program evaluates.
    """

    @property
    def description(self) -> str:
        """The source in words for a note to the user, such as "the dump dump.yaml"."""
        ...

    @property
    def may_lag(self) -> bool:
        """
        True for a reporter or a hub: its first answer may be of a pass before the question.

        False for a source that reads the cluster or a dump after the question.
        """
        ...

    async def ask(self, target: Asked_contra, /, *, after: AnyAnswer | None = None) -> AnyAnswer:
        """
        Return the status of the target. Raises StatusQueryFailed.

        *after*: wait for a change since that answer, as long as the source lets us.
        """
        ...

    async def close(self) -> None:
        """Close connections and end the watches of the source; no question may follow."""
        ...


StatusSource: TypeAlias = AnswerSource[Target, StatusAnswer]
OpenSource: TypeAlias = Callable[[], Awaitable[StatusSource]]
"""
Opens a source, to be closed by the caller. Raises SettingsError, ConfigurationError or StatusQueryFailed.
"""
