"""The commands ``run`` and ``hub``, which stay, and ``version``."""

from collections.abc import Mapping
from functools import partial

from reporter import PROGRAM_VERSION
from reporter.cli.command import HUB_FLAGS, RUN_FLAGS, Command
from reporter.process.imports import uncollected_imports
from reporter.settings import Arguments


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.configuration import (  # noqa: PLC0415
            load_configuration,
            load_shipped_catalogue,
        )

    settings, catalogue = load_configuration(arguments.run_flags, environ)
    with uncollected_imports():
        from reporter.app import run  # noqa: PLC0415

    load = partial(load_shipped_catalogue, settings.catalogue_overlay, settings.packs)
    return run(settings, catalogue, load)


def _run_hub(arguments: Arguments, environ: Mapping[str, str]) -> int:
    with uncollected_imports():
        from reporter.cli.hub_configuration import load_hub_settings  # noqa: PLC0415

    settings = load_hub_settings(arguments.run_flags, environ)
    with uncollected_imports():
        from reporter.hub.run import run_hub  # noqa: PLC0415

    return run_hub(settings)


def _print_version(_: Arguments, __: Mapping[str, str]) -> int:
    print(PROGRAM_VERSION)
    return 0


RUN = Command(
    run=_run,
    summary="Watch a cluster and write Events. The default command.",
    usage="[run] [FLAGS]",
    examples=(
        ("run", "in a pod, with its ServiceAccount"),
        ("run --kubeconfig=kubeconfig --leader-elect=false", "on this machine"),
        ("run --resync-seconds=30s --sources=keda,jobs", "with more kinds"),
    ),
    settings=RUN_FLAGS,
    takes_names=False,
)
HUB = Command(
    run=_run_hub,
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
    takes_names=False,
)
VERSION = Command(
    run=_print_version,
    summary="Print the version.",
    usage="version",
    examples=(("version", "as --version"),),
    takes_names=False,
)
