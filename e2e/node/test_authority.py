"""A cluster whose CA has the form of old ones, which the Python of the image refuses by default."""

from pathlib import Path

from e2e.node import stack
from e2e.node.release import installed
from tests.support.stubs.certificates import OLD_FORM


def test_reporter_runs_where_the_ca_has_neither_key_usage_nor_identifiers(tmp_path: Path) -> None:
    with installed(tmp_path, form=OLD_FORM) as release:
        assert release.cluster_state() == "Current"
        events = release.events_from_now()
        component = stack.component("body-based-router")
        stack.NO_IMAGE.cause(release.cluster.client, component)
        events.wait_for("clusterBBRNotReady", stack.ABSENT_IMAGE)
