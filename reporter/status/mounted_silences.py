"""Read the file of silences of a reporter from the ConfigMap that its pod mounts."""

from pathlib import Path

from reporter.catalogue.silence_file import SILENCE_FILE, parse_silence_file
from reporter.kube.client import RestClient
from reporter.kube.config_maps import ConfigMapText, read_text
from reporter.model.silences import SilenceFile
from reporter.status.pod_fetcher import ReporterPod


async def read_mounted(api: RestClient, pod: ReporterPod) -> ConfigMapText | None:
    """
    Return the text of the pod's file of silences, empty if there is none yet; None if it is in no ConfigMap.

    Raises KubeError.
    """
    place = pod.config_map_of(pod.flags.get(SILENCE_FILE, ""))
    return None if place is None else await read_text(api, pod.namespace, *place)


def parse_mounted(found: ConfigMapText) -> SilenceFile:
    """
    Return the silences as the reporter reads them; for an empty text, a file that does not exist.

    A malformed text silences nothing, and has a *problem*.
    """
    if not found.text:
        return SilenceFile(str(found), exists=False)
    return parse_silence_file(found.text, Path(found.key))
