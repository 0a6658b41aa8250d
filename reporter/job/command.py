"""
The command ``job-status``: one run of the sidecar, and its exit code.

0 for a result that was written, 1 for an adapter that gave none and for every failure.
"""

import asyncio
import logging
from collections.abc import Mapping

from reporter.job.environment import EnvironmentRefusedError, SidecarSettings, load_settings
from reporter.job.reports import Report, go_duration
from reporter.job.watching import AdapterWatch, StopSignal
from reporter.job.writer import DEFAULT_LIMITS, ConditionWriter, NotWrittenError, WriteDeadlines
from reporter.kube import rest_config
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from reporter.kube.job_client import JobStatusClient, SidecarPodReader
from reporter.process.clock import Clock
from reporter.process.log_format import configure_logging
from reporter.process.signals import on_stop_signal
from reporter.settings import LogFormat
from reporter.settings.errors import ConfigurationError
from reporter.settings.loading import IN_CLUSTER_VARIABLE


NOT_IN_CLUSTER = (
    "failed to get in-cluster config: unable to load in-cluster configuration, "
    "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined"
)

logger = logging.getLogger("reporter.job")


def run_job_status(environ: Mapping[str, str]) -> int:
    """Run the sidecar until it has reported, or must leave; returns the exit code."""
    configure_logging(LogFormat.TEXT, logging.INFO)
    try:
        settings = load_settings(environ)
        return asyncio.run(_run(settings, environ))
    except EnvironmentRefusedError as err:
        logger.critical("Failed to load configuration: %s", err)
    except ConfigurationError as err:
        logger.critical("Failed to create reporter: %s", err)
    except NotWrittenError as err:
        logger.critical("the condition was not written: %s", err)
    except Exception:
        logger.critical("stopping after a failure", exc_info=True)
    return 1


async def _run(settings: SidecarSettings, environ: Mapping[str, str]) -> int:
    stop = StopSignal()
    on_stop_signal(stop.receive)
    _log_settings(settings)
    clock = Clock()
    api = await _connect(environ, clock)
    try:
        return await run_sidecar(settings, api, clock, stop)
    finally:
        await api.close()


async def _connect(environ: Mapping[str, str], clock: Clock) -> RestClient:
    """Connect with the service account of the pod, and never with a kubeconfig."""
    if not environ.get(IN_CLUSTER_VARIABLE):
        raise ConfigurationError(NOT_IN_CLUSTER)
    in_pod = {name: text for name, text in environ.items() if name != "KUBECONFIG"}
    return await connect(
        None, clock=clock, environ=in_pod, service_account_dir=rest_config.SERVICE_ACCOUNT_DIR
    )


async def run_sidecar(
    settings: SidecarSettings,
    api: RestClient,
    clock: Clock,
    stop: StopSignal,
    *,
    limits: WriteDeadlines = DEFAULT_LIMITS,
) -> int:
    """
    Wait for something to report, write it, and return the exit code. Raise NotWrittenError if that fails.
    """
    namespace = settings.job_namespace
    watch = AdapterWatch(settings, SidecarPodReader(api, namespace, settings.pod_name), stop)
    end = await watch.conclude()
    if not isinstance(end, Report):
        logger.info("leaving without a result; the Job is left as it is")
        return 0
    condition = end.as_condition(settings.condition_type)
    jobs = JobStatusClient(api, namespace, settings.job_name)
    owner = watch.pod.owner if watch.pod is not None else None
    writer = ConditionWriter(jobs, clock.now, owner, limits)
    await writer.write(condition, stop, deadline=watch.deadline)
    logger.info(
        "Job status updated: %s=%s (reason: %s): %s",
        condition.type,
        condition.status,
        condition.reason,
        condition.message,
    )
    if not watch.is_native:
        return end.exit_code
    # The kubelet would restart a native sidecar that ends before the adapter (KEP-753).
    logger.info("waiting for the end of the pod")
    await stop.wait()
    return 0


def _log_settings(settings: SidecarSettings) -> None:
    rules = settings.rules
    logger.info(
        "Job %s/%s, pod %s: waiting for %s, at most %s, looking every %s; adapter container: %s; "
        "condition: %s",
        settings.job_namespace,
        settings.job_name,
        settings.pod_name,
        settings.results_path,
        go_duration(rules.max_wait),
        go_duration(rules.poll_interval),
        settings.adapter_container or "the first that is not the sidecar",
        settings.condition_type,
    )
