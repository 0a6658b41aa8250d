"""Build Namespaces."""

from reporter.model.kinds.core.namespaces import Namespace, NamespaceMetadata


def build_namespace(name: str) -> Namespace:
    return Namespace(metadata=NamespaceMetadata(name=name, uid=f"uid-{name}"))
