"""
The containers of a pod: which of them is meant, and which are ready.

A sidecar that restarts is an init container (KEP-753). Unlike the others it goes on running, and the
pod is Ready only with it.
"""

from reporter.model.kinds.core.pods import ContainerStatus, Pod, container_statuses


def waiting_reason(status: ContainerStatus) -> str:
    return (status.state.waiting.reason or "") if status.state.waiting is not None else ""


def is_init_container(pod: Pod, status: ContainerStatus) -> bool:
    return status in (pod.status.init_container_statuses or ())


def name_container(pod: Pod, status: ContainerStatus) -> str:
    """
    Return the name of a container for a message; empty for the only one of a pod.

    kubectl logs shows the first container unless it is told another one.
    """
    if is_init_container(pod, status):
        return f"init container {status.name}"
    return f"container {status.name}" if len(_serving(pod)) > 1 else ""


def are_containers_ready(pod: Pod) -> bool:
    """Return whether all containers that must be ready are; False if none was reported."""
    serving = _serving(pod)
    return bool(serving) and all(each.ready for each in serving)


def unready_beside_ready(pod: Pod) -> tuple[ContainerStatus, ...]:
    """Return the containers that are not ready while another one of the pod is."""
    serving = _serving(pod)
    unready = tuple(each for each in serving if not each.ready)
    return unready if len(unready) < len(serving) else ()


def find_container(pod: Pod, name: str) -> ContainerStatus | None:
    return next((each for each in container_statuses(pod) if each.name == name), None)


def _serving(pod: Pod) -> tuple[ContainerStatus, ...]:
    """
    Return the main containers and the sidecars that restart; without those while the pod starts.
    """
    main = tuple(pod.status.container_statuses or ())
    if all(each.state.waiting is not None for each in main):
        return main
    # Once a main container has started, an init container that still runs is a sidecar.
    sidecars = (
        each for each in pod.status.init_container_statuses or () if each.state.terminated is None
    )
    return (*sidecars, *main)
