"""
The commands as users see them: summary, usage, examples and flags, each declared once.

``--help``, docs/commands.md and the completion of shells are made from these.
"""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from reporter.cli import arguments
from reporter.cli.arguments import (
    CHECK_CONFIG_FLAGS,
    EXPLAIN_FLAGS,
    SILENCE_FLAGS,
    STATUS_FLAGS,
    WAIT_FLAGS,
    CommandFlag,
)
from reporter.cli.authoring import DOCS_FLAGS, LINT_FLAGS, TEST_FLAGS
from reporter.cli.check import CHECK_FLAGS
from reporter.cli.configuration import HUB_FLAGS, RUN_FLAGS


NONE: frozenset[str] = frozenset()


class CommandSpec(Struct, frozen=True, kw_only=True):
    """
    A command. *usage* and *examples* begin after the program's name; an example has a line on what it does.

    *flags*: its own. *settings*: names of the flags of ``run`` or ``hub`` that it takes. *values*: what
    its argument may be, if that is a closed set.
    """

    summary: str
    usage: str
    examples: Sequence[tuple[str, str]] = ()
    flags: Sequence[CommandFlag] = ()
    settings: Collection[str] = NONE
    values: Sequence[str] = ()


EVALUATION_FLAGS = frozenset(arguments.RUN_FLAGS)
SHELLS = ("bash", "zsh", "fish")

COMMAND_SPECS: Mapping[str, CommandSpec] = {
    "run": CommandSpec(
        summary="Watch a cluster and write Events. The default command.",
        usage="[run] [FLAGS]",
        examples=(
            ("run", "in a pod, with its ServiceAccount"),
            ("run --kubeconfig=kubeconfig --leader-elect=false", "on this machine"),
            ("run --resync-seconds=30s --sources=keda,jobs", "with more kinds"),
        ),
        settings=RUN_FLAGS,
    ),
    "hub": CommandSpec(
        summary="Answer for many clusters by their metrics in one engine.",
        usage="hub --hub-query-url=URL [FLAGS]",
        examples=(
            ("hub --hub-query-url=https://prometheus.example.com", "for the clusters of objects"),
            (
                "hub --hub-query-url=https://prometheus.example.com --hub-engage=seen",
                "for all clusters that have metrics",
            ),
        ),
        settings=HUB_FLAGS,
    ),
    "status": CommandSpec(
        summary="Show the status of the cluster, a namespace or an InferenceSet.",
        usage="status [NS[/SET] | cluster] [FLAGS]",
        examples=(
            ("status", "the control plane and every workload namespace"),
            ("status -n team-a qwen -o wide", "one InferenceSet, as status team-a/qwen"),
            ("status -A --context=production", "the InferenceSets of another cluster"),
            ("status team-a --as=jane --request-timeout=30s", "what jane would see"),
            ("status --from=http://127.0.0.1:8082 -w", "a reporter, and what changes"),
        ),
        flags=STATUS_FLAGS,
        settings=EVALUATION_FLAGS,
    ),
    "wait": CommandSpec(
        summary="Wait until one of them is as wanted, as a pipeline does.",
        usage="wait NS[/SET] | cluster [FLAGS]",
        examples=(
            ("wait team-a --for=ready --timeout=10m --fail-fast", "after an upgrade"),
            ("wait team-a/qwen --for=gone --timeout=90", "for 90 seconds"),
        ),
        flags=WAIT_FLAGS,
        settings=EVALUATION_FLAGS,
    ),
    "explain": CommandSpec(
        summary="Explain a reason, or what blocks a subject.",
        usage="explain REASON | NS[/SET] | cluster [FLAGS]",
        examples=(
            ("explain clusterBBRNotReady", "what it means, and what to do"),
            ("explain -n team-a qwen", "why it is not Current"),
        ),
        flags=EXPLAIN_FLAGS,
        settings=EVALUATION_FLAGS,
    ),
    "check": CommandSpec(
        summary="Evaluate one or more clusters once, as a pipeline does.",
        usage="check [NS[/SET] | cluster] [FLAGS]",
        examples=(
            ("check", "the current cluster, and an exit code"),
            ("check team-a/qwen --context=staging", "one InferenceSet of another cluster"),
            ("check --context=eu --context=us -o json", "two clusters side by side"),
            ("check --from=dump/ -o junit > report.xml", "a dump, for a pipeline"),
        ),
        flags=CHECK_FLAGS,
        settings=EVALUATION_FLAGS,
    ),
    "silence": CommandSpec(
        summary="Hold back the findings of a reason until a time.",
        usage="silence SUBJECT REASON[,REASON] [FLAGS]",
        examples=(
            (
                "silence team-a/qwen inferencesetModelPodsNotReady --until=90m --why=maintenance --apply",
                "one reason of one InferenceSet",
            ),
            (
                "silence team-a all --until=2026-12-01 --why=maintenance",
                "the annotations to apply",
            ),
            (
                "silence cluster clusterKedaNotReady --until=2h --why=upgrade",
                "an entry for the file of silences",
            ),
        ),
        flags=SILENCE_FLAGS,
        settings=EVALUATION_FLAGS,
    ),
    "job-status": CommandSpec(
        summary="As the sidecar of a Job, write the result of its other container into the status of"
        " the Job. The default command where JOB_NAME and POD_NAME are set.",
        usage="job-status",
        examples=(("job-status", "in a pod of the Job; it has variables and no flags"),),
    ),
    "check-config": CommandSpec(
        summary="Check flags, catalogue and overlay, and print what is in effect.",
        usage="check-config [FLAGS]",
        examples=(
            ("check-config --catalogue-overlay=overlay.yaml", "before it is installed"),
            ("check-config -o json", "for a program"),
        ),
        flags=CHECK_CONFIG_FLAGS,
        settings=RUN_FLAGS,
    ),
    "lint": CommandSpec(
        summary="Check the files of a catalogue: all problems at once.",
        usage="lint PATH... [FLAGS]",
        examples=(
            ("lint overlay.yaml", "one overlay"),
            ("lint clusters/*/overlay.yaml stories/", "overlays, each on its own, and stories"),
            ("lint catalogue/ -o junit > report.xml", "a whole catalogue, for a pipeline"),
        ),
        flags=LINT_FLAGS,
    ),
    "test": CommandSpec(
        summary="Run stories: what happens, and what must be announced.",
        usage="test PATH... [FLAGS]",
        examples=(
            ("test stories/ --catalogue-overlay=overlay.yaml", "of an overlay"),
            ("test stories/router-at-zero.yaml -o json", "one story, for a program"),
            ("test stories/ -o junit > report.xml", "for a pipeline"),
            ("test stories/ --coverage", "and which reasons none of them announces"),
            ("test --schema > story.schema.json", "for an editor"),
        ),
        flags=TEST_FLAGS,
    ),
    "docs": CommandSpec(
        summary="Render the reference of all reasons as Markdown.",
        usage="docs [FLAGS]",
        examples=(
            ("docs > reasons.md", "of the shipped catalogue"),
            ("docs --packs=kserve > kserve.md", "of a pack"),
            ("docs --catalogue-overlay=own.yaml > own.md", "of one's own"),
        ),
        flags=DOCS_FLAGS,
    ),
    "completion": CommandSpec(
        summary="Print the completion of commands and flags for a shell.",
        usage=f"completion {'|'.join(SHELLS)}",
        examples=(
            ("completion bash > completion.bash", "then: source completion.bash"),
            ("completion zsh > _status-reporter", "in a folder of fpath; then start a new zsh"),
            (
                "completion fish > productionstack-status-reporter.fish",
                "in ~/.config/fish/completions",
            ),
        ),
        values=SHELLS,
    ),
    "version": CommandSpec(
        summary="Print the version.", usage="version", examples=(("version", "as --version"),)
    ),
}
