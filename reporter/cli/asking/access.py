"""Reach a cluster as ``--kubeconfig``, ``--context``, ``--as`` and ``--request-timeout`` say."""

from collections.abc import Mapping
from datetime import timedelta

from reporter.cli.arguments.parser import Arguments
from reporter.cli.arguments.times import parse_time_flag
from reporter.kube.client import RestClient, connect
from reporter.kube.rest_config import load_bearer
from reporter.runtime.process.clock import Clock
from reporter.settings import Settings, load_settings


class ClusterAccess:
    """
    One user's way to a cluster. Raises SettingsError.

    *request_timeout*: None for the times that requests have of their own.
    """

    def __init__(self, arguments: Arguments, environ: Mapping[str, str], clock: Clock) -> None:
        self._arguments, self._environ, self._clock = arguments, environ, clock
        self.request_timeout: timedelta | None = (
            parse_time_flag(arguments, "request-timeout") or None
        )

    async def connect(self, settings: Settings) -> RestClient:
        """Raises ConfigurationError."""
        return await connect(
            _kubeconfig(settings),
            context=self._arguments.values["context"],
            impersonated=self._arguments.values["as"],
            request_timeout=self.request_timeout,
            clock=self._clock,
            environ=self._environ,
        )

    async def authorization(self) -> str:
        """
        Return the header with the user's token; empty without one. Raises ConfigurationError.
        """
        settings = load_settings(self._arguments.run_flags, self._environ)
        context = self._arguments.values["context"]
        return await load_bearer(_kubeconfig(settings), self._environ, context=context)


def _kubeconfig(settings: Settings) -> str | None:
    return str(settings.kubeconfig) if settings.kubeconfig is not None else None
