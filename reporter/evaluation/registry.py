"""
The list of all probes.

A probe does not register itself on import: a new one gets its line here.
"""

from collections.abc import Mapping

from reporter.catalogue.entries import ProbeSpec
from reporter.cel import probe as cel
from reporter.probes import (
    api_keys,
    catch_all_filter,
    contradicted_status,
    crds,
    deployments,
    endpoint_picker,
    engines,
    ext_authz,
    gateway_class,
    gateway_data_plane,
    gateway_programming,
    jobs,
    metrics_unavailable,
    model_pods,
    network_policy,
    node_pressure,
    nodes,
    pod_restarting,
    provisioning,
    route,
    scaling,
    store_capacity,
    weight_download,
)
from reporter.probes.probe import Probe


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
        *engines.PROBES,
    )
}


# --------------------------------------------------------------------
# The spec of every probe, by its name.


SPECS: Mapping[str, ProbeSpec] = {name: probe.spec for name, probe in PROBES.items()}
