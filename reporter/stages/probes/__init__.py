"""
The list of all probes.

A probe does not register itself on import: a new one gets its line here.
"""

from collections.abc import Mapping

from reporter.stages.probes.cel import probe as cel
from reporter.stages.probes.checks import jobs
from reporter.stages.probes.cluster import crds, deployments, nodes, store_capacity
from reporter.stages.probes.modeldeployment import (
    contradicted_status,
    endpoint_picker,
    metrics_unavailable,
    model_pods,
    node_pressure,
    pod_restarting,
    provisioning,
    route,
    scaling,
    weight_download,
)
from reporter.stages.probes.modeldeployment.engine import (
    kv_cache,
    preemptions,
    queue,
    request_errors,
    stalled,
)
from reporter.stages.probes.modelharness import (
    api_keys,
    catch_all_filter,
    ext_authz,
    gateway_class,
    gateway_data_plane,
    gateway_programming,
    network_policy,
)
from reporter.stages.probes.probe import Probe


PROBES: Mapping[str, Probe] = {
    probe.spec.name: probe
    for probe in (
        crds.PROBE,
        nodes.PROBE,
        deployments.PROBE,
        jobs.PROBE,
        cel.PROBE,
        store_capacity.PROBE,
        gateway_class.PROBE,
        gateway_programming.PROBE,
        gateway_data_plane.PROBE,
        ext_authz.PROBE,
        api_keys.PROBE,
        catch_all_filter.PROBE,
        network_policy.PROBE,
        scaling.PROBE,
        provisioning.PROBE,
        model_pods.PROBE,
        route.PROBE,
        endpoint_picker.PROBE,
        contradicted_status.PROBE,
        weight_download.PROBE,
        node_pressure.PROBE,
        pod_restarting.PROBE,
        metrics_unavailable.PROBE,
        stalled.PROBE,
        kv_cache.PROBE,
        queue.PROBE,
        preemptions.PROBE,
        request_errors.PROBE,
    )
}
