"""Metrics pages of three real replicas in each state that the alerts distinguish."""

from collections.abc import Sequence

from e2e.chart.alerts.capture import Produce
from e2e.chart.alerts.states import evaluating, leading, writing


ALL: Sequence[Produce] = (
    evaluating.healthy,
    evaluating.one_cut_off,
    evaluating.api_server_out,
    evaluating.watch_lost,
    evaluating.discovery_fails,
    evaluating.finding,
    evaluating.silenced,
    evaluating.silences_not_in_effect,
    evaluating.suppressed,
    evaluating.unknown,
    leading.no_leader,
    leading.two_leaders,
    writing.writes_refused,
    writing.one_write_throttled,
    writing.dropped,
    writing.mirrors_refused,
    writing.mirror_dropped,
    writing.objects_refused,
    writing.objects_unread,
    evaluating.harness_out,
    evaluating.reviews_fail,
    writing.store_refused,
    evaluating.overlay_refused,
    evaluating.undecodable,
)
