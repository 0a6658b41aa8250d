"""
The flags of status, wait and explain, and their ``--help``.
"""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from reporter.cli.status.arguments.parser import CommandFlag


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
REPORTER_NAMESPACE = CommandFlag(
    "reporter-namespace",
    "The namespace of the reporter's pods; empty: they are looked for in all.",
    "NS",
)
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
    REPORTER_NAMESPACE,
    CONTEXT,
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
        "How long to wait, such as 90s, 10m or 1h; 0s: ask once, and take the answer as it is.",
        "TIME",
        default="10m",
    ),
    CommandFlag("fail-fast", "End at Failed, unless it is transient, and at Terminating."),
    NAMESPACE,
    FROM,
    REPORTER_NAMESPACE,
    CONTEXT,
)
EXPLAIN_FLAGS = (NAMESPACE, FROM, AT, REPORTER_NAMESPACE, CONTEXT)

COMMAND_FLAGS: Mapping[str, Sequence[CommandFlag]] = {
    "status": STATUS_FLAGS,
    "wait": WAIT_FLAGS,
    "explain": EXPLAIN_FLAGS,
}

RUN_FLAGS_NOTE = """\
Flags of run that shape the evaluation, such as --kaito-namespace or
--catalogue-overlay, apply to --from=cluster and file:PATH; --kubeconfig to all
but URL and file:PATH. run --help lists them. Environment variables set them
too. Flags of a reporter's pod that is found apply unless they are given here."""


def render_flags(flags: Sequence[CommandFlag]) -> str:
    return "\n".join(("Flags:", *(line for flag in flags for line in _render_flag(flag))))


def _render_flag(flag: CommandFlag) -> Iterator[str]:
    value = f"={flag.placeholder}" if flag.placeholder else ""
    short = f"-{flag.short}, " if flag.short else ""
    yield f"  {short}--{flag.name}{value}"
    text = f"{flag.help} Default: {flag.default}." if flag.default else flag.help
    yield from wrap(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
