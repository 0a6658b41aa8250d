"""The flags of check."""

from collections.abc import Sequence

from reporter.cli.arguments.flags import AS, AT, NAMESPACE, REQUEST_TIMEOUT
from reporter.cli.arguments.parser import CommandFlag


CHECK_FLAGS: Sequence[CommandFlag] = (
    CommandFlag("output", "The format.", "table|json|junit", short="o", default="table"),
    NAMESPACE,
    CommandFlag(
        "from",
        "What is evaluated. cluster: the API server. PATH: a dump, as a folder, a file, or - for"
        " standard input.",
        "cluster|PATH",
        default="cluster",
    ),
    AT,
    CommandFlag(
        "fail-on",
        "warning: end with 3 to 6 if the worst state is not Current. never: with 0 if there is an"
        " answer.",
        "warning|never",
        default="warning",
    ),
    CommandFlag(
        "context",
        "The context of the kubeconfig; empty: its current one. Given several times, the clusters"
        " are shown side by side.",
        "NAME",
        repeats=True,
    ),
    AS,
    REQUEST_TIMEOUT,
)
