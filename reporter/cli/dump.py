"""The kubectl command that makes a dump."""

from reporter.kinds.default_kinds import DEFAULT_KINDS


CRDS = "customresourcedefinitions.apiextensions.k8s.io"
FILE = "dump.yaml"


def dump_command() -> str:
    """
    Return one command that lists every kind, and the CRDs, by which a kind that is not installed is recognized.

    A line ends after a comma and a backslash, where a shell joins it with the next one.
    """
    kinds = (*(kind.group_resource for kind in DEFAULT_KINDS), CRDS)
    listed = ",\\\n".join(kinds)
    return f"kubectl get --all-namespaces --output=yaml \\\n{listed} > {FILE}"
