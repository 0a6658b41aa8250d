"""The controllers, found or built with Go from the modules that pin them."""

from pathlib import Path

from e2e.controllers import released
from e2e.controlplane import assets, golang, pins


KAITO, KARPENTER = "kaito-workspace", "karpenter"
KEDA, KEDA_METRICS = "keda-operator", "keda-adapter"
PICKER = "epp"
KAITO_MODULE = "github.com/kaito-project/kaito"
KARPENTER_MODULE = "sigs.k8s.io/karpenter"
KEDA_MODULE = "github.com/kedacore/keda/v2"
PICKER_MODULE = "sigs.k8s.io/gateway-api-inference-extension"
PROGRAMS = {
    KAITO: ("kaito", KAITO_MODULE),
    KARPENTER: ("karpenter", KARPENTER_MODULE),
    KEDA: ("keda", KEDA_MODULE),
    KEDA_METRICS: ("keda", KEDA_MODULE),
    PICKER: ("picker", PICKER_MODULE),
}
NOT_RUN = {
    "keda-kaito-scaler": "the Go module proxy has no version of it, and KEDA reaches it by the name of a Service; a test makes its ScaledObjects and answers KEDA",
}
"""The controllers of a production stack that are not run, and why."""

HOW = """\
No model was run under them.
Install Go 1.26 or newer and run `.venv/bin/python -m e2e.controllers`, which needs the Go module proxy
and twenty minutes on two processors."""


NO_ISTIOD = f"""\
What istiod {released.ISTIOD.version} writes was not compared with the recorded stories.
The Go module proxy has no version of istio.io/istio. `.venv/bin/python -m e2e.controllers` takes it out of its
image, {released.ISTIOD.image}; without that registry, put {released.ISTIOD.file} of that version on the PATH."""


class ControllersMissing(Exception):
    """A controller is not built; the text names it, and says what is not checked and what to do."""


def find(*names: str) -> None:
    """Raise ControllersMissing if one of these is not built, or its chart cannot be read."""
    lacking = assets.lacking(names)
    if lacking:
        raise ControllersMissing(f"Not built: {', '.join(lacking)}.\n{HOW}")
    if golang.go() is None:
        raise ControllersMissing(f"Go is needed to find their charts.\n{HOW}")


def find_istiod() -> None:
    """Raise ControllersMissing if istiod is not here."""
    if released.find(released.ISTIOD) is None:
        raise ControllersMissing(NO_ISTIOD)


def version(name: str) -> str:
    """Return the version of a program, as its module or its image has it."""
    if name == released.ISTIOD.name:
        return released.ISTIOD.version
    folder, module = PROGRAMS[name]
    return pins.version(str(pins.TOOLS / folder), module)


def source(module: str) -> Path:
    """Return the folder with the sources of a module, also its charts."""
    return golang.download("crds")[module]
