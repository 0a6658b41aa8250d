"""Load settings outside of a cluster."""

from pathlib import Path

import pytest

from reporter.settings import Settings, SettingsError, load_settings


NOWHERE = Path("/nonexistent/namespace")


def settings(*argv: str, **environ: str) -> Settings:
    return load_settings(argv, environ, hostname="laptop", namespace_file=NOWHERE)


def refusal(*argv: str, **environ: str) -> str:
    with pytest.raises(SettingsError) as refused:
        settings(*argv, **environ)
    return str(refused.value)
