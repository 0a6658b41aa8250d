"""
Detect that the metrics page of a Ready model pod cannot be read, although pages of other pods can.

What other reasons read there is Unknown meanwhile. If no page can be read at all, this process is cut
off, and the verdict is Unknown: the trouble is its own.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import Annotated

from msgspec import Meta

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES, PODS, Pod
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources.check_result import CheckResult, Inconclusive
from reporter.resources.inference_sets import find_model_pods, get_inference_set
from reporter.scrape.samples import FailedScrape, ScrapeHistory, ScrapeResult
from reporter.scrape.scrapes import Scrape
from reporter.snapshot.loading import NOT_READ, has_page, is_serving
from reporter.snapshot.scrape_targets import READY
from reporter.snapshot.snapshot import Snapshot


CAUSE_CODES: Mapping[ScrapeResult, str] = {
    ScrapeResult.REFUSED: "Refused",
    ScrapeResult.UNREACHABLE: "Unreachable",
    ScrapeResult.TIMED_OUT: "TimedOut",
    ScrapeResult.FAILED: "Failed",
    ScrapeResult.UNUSABLE: "Unusable",
}
"""The results that say something about the pod: all but READ and OWN_LIMITS."""


class MetricsUnavailableParameters(ProbeParameters, frozen=True):
    """
    The failures in a row, and the seconds from the first to the last, from which on it is trouble.
    """

    failures: Annotated[int, Meta(ge=2, le=100)]
    window_seconds: Annotated[int, Meta(ge=1, le=86400)]
    port_flag: str = "weight-download-metric-port"


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Return the result of the metrics page of each serving pod of an InferenceSet.

    A page that was not tried yet gives None. An InferenceSet that does not exist has no results.
    """
    if get_inference_set(snapshot, request.subject) is None:
        return []
    pods = find_model_pods(snapshot, request.subject)
    return [_check_page(snapshot, request, pod) for pod in pods if is_serving(pod)]


def _check_page(snapshot: Snapshot, request: ProbeRequest, pod: Pod) -> CheckResult | None:
    """
    Return the trouble of a page; None if it was read, or not tried yet.

    A page that failed too few times is neither readable nor unavailable.
    """
    if not has_page(pod):
        return Inconclusive(f"pod {pod.metadata.name}: {NOT_READ}")
    history = snapshot.scrape_history(pod, request.reason)
    failure = history.last_failure if history is not None else None
    if failure is None:
        return None
    if _is_unavailable(request.parameters, failure):
        meta = pod.metadata
        return Trouble(
            cause=Cause(PODS.ref_to(pod), CAUSE_CODES[failure.result]),
            kind=TroubleKind.FAILED,
            since=failure.since,
            object_created_at=meta.creation_timestamp,
            message_fields={"pod": meta.name, "port": request.flags[request.parameters.port_flag]},
            foreign_text=failure.why,
        )
    others = "" if failure.others_read else "; no other page was read since the attempt before"
    return Inconclusive(f"pod {pod.metadata.name}: {failure.why}{others}")


def _is_unavailable(parameters: MetricsUnavailableParameters, failure: FailedScrape) -> bool:
    return (
        failure.result in CAUSE_CODES
        and failure.failures >= parameters.failures
        and failure.lasted >= timedelta(seconds=parameters.window_seconds)
    )


def build_scrape(parameters: MetricsUnavailableParameters, flags: Mapping[str, str]) -> Scrape:
    """Build the request for the page itself, without any family."""
    return Scrape(
        families=(),
        pods=READY,
        port=int(flags[parameters.port_flag]),
        fingerprints=(partial(summarize_history, parameters),),
    )


def summarize_history(
    parameters: MetricsUnavailableParameters, history: ScrapeHistory
) -> tuple[bool, bool, str]:
    """
    Return whether the page is unavailable, whether others were read meanwhile, and why it was not read.

    The verdict depends on nothing else, so a scrape that leaves this as it was causes no evaluation.
    """
    failure = history.last_failure
    if failure is None:
        return False, True, ""
    return _is_unavailable(parameters, failure), failure.others_read, failure.why


PROBE = Probe(
    ProbeSpec(
        name="metrics-unavailable",
        parameters_type=MetricsUnavailableParameters,
        message_fields=frozenset({"pod", "port"}),
        cause_codes=frozenset(CAUSE_CODES.values()),
        required_kinds=(INFERENCE_SETS, PODS),
        optional_kinds=(NAMESPACES,),
        required_crds=crds_of(INFERENCE_SETS),
        pauses_at_zero_replicas=True,
        scrape=build_scrape,
    ),
    evaluate,
)
