"""The status of each subject in one line, as a story pins it."""

from collections.abc import Iterator, Mapping
from typing import Any

from reporter.model.status_document import Blocking, Contributing
from reporter.rollup.document import StatusView


def status_lines(view: StatusView) -> Mapping[str, str]:
    """
    Return the lines by subject: ``cluster``, each namespace, its ``…/harness`` and InferenceSets.
    """
    return dict(_lines(view))


def _lines(view: StatusView) -> Iterator[tuple[str, str]]:
    cluster = view.cluster()
    counts = cluster.counts.inference_sets
    by_state = counts.by_state().items() if counts is not None else ()
    numbers = ", ".join(f"{number} {state}" for state, number in by_state if number)
    layers = "".join(f"; {each.layer} not listed" for each in cluster.unlisted_layers)
    yield "cluster", _line(cluster) + layers
    yield "counts", numbers
    for component in cluster.components:
        words = [str(component.state)]
        if component.replicas is not None:
            counted = component.replicas
            words.append(f"{counted.ready}/{counted.desired}, {counted.updated} updated")
        yield f"Deployment {component.namespace}/{component.name}", " ".join(words)
    for namespace in view.namespaces():
        more = "".join(f"; {_also(each)}" for each in namespace.contributing)
        yield namespace.name, _line(namespace) + more
        if namespace.harness is not None:
            yield f"{namespace.name}/harness", _line(namespace.harness)
        for each in namespace.inference_sets:
            yield f"{namespace.name}/{each.name}", _line(each)
            yield f"{namespace.name}/{each.name} not judged", ", ".join(each.not_judged)


def _line(status: Any) -> str:
    words = [str(status.state)]
    if status.last_known is not None:
        words.append(f"(was {status.last_known})")
    if getattr(status, "paused", False):
        words.append("paused")
    available = getattr(status, "available", None)
    words += (
        [{True: "available", False: "unavailable"}[available]] if available is not None else []
    )
    replicas = getattr(status, "replicas", None)
    if replicas is not None:
        updated = f", {replicas.updated} updated" if replicas.updated is not None else ""
        words.append(f"{replicas.ready}/{replicas.desired}{updated}")
    line = " ".join(words)
    return f"{line}: {_describe(status.blocking)}" if status.blocking is not None else line


def _describe(blocking: Blocking) -> str:
    words = [blocking.reason, blocking.code, str(blocking.actionability)]
    words += ["held"] if blocking.held else []
    words += ["stalled"] if blocking.stalled else []
    words += [str(blocking.pattern)] if blocking.pattern else []
    words += [f"via {', '.join(blocking.via)}"] if blocking.pointer else []
    return " ".join(word for word in words if word)


def _also(each: Contributing) -> str:
    pointer = "pointer " if each.pointer else ""
    return f"also {pointer}{each.reason} {each.code} of {each.subjects}"
