"""The flags of status, wait and explain, and their ``--help``."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from reporter.cli.arguments.parser import CommandFlag


WIDTH = 80

FROM = CommandFlag(
    "from",
    "Where the status comes from. reporter: a pod of the reporter, through the API server. URL: its"
    " status address, as after kubectl port-forward. cluster: this program reads the cluster and"
    " evaluates it. file:PATH: a dump, as a folder, a file, or - for standard input. auto: the"
    " reporter, else the cluster. hub, or hub:URL: the clusters of a hub (status alone).",
    "auto|reporter|cluster|file:PATH|URL|hub",
    default="auto",
)
NAMESPACE = CommandFlag("namespace", "The namespace, so that only SET is named.", "NS", short="n")
CONTEXT = CommandFlag("context", "The context of the kubeconfig; empty: its current one.", "NAME")
AS = CommandFlag(
    "as", "Act as this user, as kubectl does; needs the permission to impersonate.", "USER"
)
REQUEST_TIMEOUT = CommandFlag(
    "request-timeout",
    "Give up a request after this time, such as 30s, 2m or 30 (seconds); 0: each has a limit of its own.",
    "TIME",
    default="0",
)
REPORTER_NAMESPACE = CommandFlag(
    "reporter-namespace",
    "The namespace of the reporter's pods; empty: they are looked for in all.",
    "NS",
)
ACCESS = (REPORTER_NAMESPACE, CONTEXT, AS, REQUEST_TIMEOUT)
"""The flags that name the cluster, and the user to reach it as."""

AT = CommandFlag("at", "The moment to evaluate a dump at; empty: the newest time in it.", "TIME")

STATUS_FLAGS = (
    CommandFlag("output", "The format.", "table|wide|json|yaml|name", short="o", default="table"),
    NAMESPACE,
    CommandFlag(
        "all-namespaces", "List the InferenceSets of all namespaces, one a line.", short="A"
    ),
    CommandFlag("no-headers", "Leave out the headers of a table."),
    CommandFlag("watch", "Go on, and print what changes. Not for dumps.", short="w"),
    FROM,
    AT,
    CommandFlag("exit-code", "End with 3 to 6 if the worst state is not Current."),
    CommandFlag(
        "history", "Show what was wrong, how long and how often, as the HealthEvents show."
    ),
    CommandFlag("since", "With --history: how far to look back.", "TIME", default="24h"),
    CommandFlag("schema", "Print the JSON Schema of --output=json, and end."),
    *ACCESS,
)
WAIT_FLAGS = (
    CommandFlag(
        "for",
        "ready: the state is Current. available: a replica serves and its route is not out. gone:"
        " it does not exist.",
        "ready|available|gone",
        default="ready",
    ),
    CommandFlag(
        "timeout",
        "How long to wait, such as 90s, 10m or 90 (seconds); 0: ask once, and take the answer as it is.",
        "TIME",
        default="10m",
    ),
    CommandFlag("fail-fast", "End at Failed, unless it is transient, and at Terminating."),
    NAMESPACE,
    FROM,
    *ACCESS,
)
EXPLAIN_FLAGS = (NAMESPACE, FROM, AT, *ACCESS)
SILENCE_FLAGS = (
    CommandFlag(
        "until", "When it ends: a time such as 2026-12-01T00:00:00Z, or 90m from now.", "TIME"
    ),
    CommandFlag("why", "Why; shown with the silence.", "TEXT"),
    CommandFlag("by", "Who silences; empty: the name of the user of this machine.", "NAME"),
    CommandFlag("apply", "Annotate the namespace or InferenceSet, instead of printing."),
    CommandFlag("replace", "With --apply: replace the silence that the object has."),
    CommandFlag("file", "Print an entry of the file of silences instead of annotations."),
    NAMESPACE,
    CONTEXT,
    AS,
    REQUEST_TIMEOUT,
)

CHECK_CONFIG_FLAGS = (
    CommandFlag("output", "The format.", "text|json", short="o", default="text"),
)

RUN_FLAGS_NOTE = """\
Flags of run that shape the evaluation, such as --kaito-namespace or
--catalogue-overlay, apply to --from=cluster and file:PATH. --kubeconfig applies
to all but file:PATH; with a URL it gives the token, if one is asked for.
run --help lists these flags, and environment variables set them too. If the
cluster has a reporter, its flags apply unless they are given here."""


def render_flags(flags: Sequence[CommandFlag]) -> str:
    return "\n".join(("Flags:", *(line for flag in flags for line in _render_flag(flag))))


def _render_flag(flag: CommandFlag) -> Iterator[str]:
    value = f"={flag.placeholder}" if flag.placeholder else ""
    short = f"-{flag.short}, " if flag.short else ""
    yield f"  {short}--{flag.name}{value}"
    text = f"{flag.help} Default: {flag.default}." if flag.default else flag.help
    yield from wrap(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
