"""The texts before and after the scenarios."""

from devcluster.demo.folder import DemoFolder, display_path
from devcluster.demo.terminal.screen import Screen
from reporter import PROGRAM_NAME


SOURCE = f"source={PROGRAM_NAME}"


def introduce(screen: Screen, folder: DemoFolder, *, metrics: str, health: str) -> None:
    kubectl = f"kubectl --kubeconfig {display_path(folder.kubeconfig)}"
    screen.paragraph(
        "This is a healthy KAITO production stack on a small API server. The real reporter watches it"
        " over HTTP, with its delays shortened to seconds. Parts of the stack break and are"
        " repaired, and the reporter writes Events about it. Look at it in another terminal:"
    )
    screen.verbatim(f"  {kubectl} get events -n kube-system --field-selector {SOURCE} -w")
    screen.verbatim(f"  {kubectl} get deploy -A")
    screen.verbatim(f"  {kubectl} describe deploy body-based-router -n kaito-system")
    screen.verbatim(f"  curl http://{metrics}/metrics http://{health}/status")
    screen.verbatim(f"  http://{health}/ in a browser: the status page")
    screen.verbatim(f"  tail -f {display_path(folder.reporter_log)}")


def conclude(screen: Screen, folder: DemoFolder) -> None:
    screen.paragraph()
    if not screen.terminal:
        screen.paragraph("That was the last scenario.")
        return
    kubectl = f"kubectl --kubeconfig {display_path(folder.kubeconfig)}"
    screen.paragraph(
        "That was the last scenario. Everything keeps running until Ctrl-C: break something yourself,"
        " and its Events appear here. For example:"
    )
    screen.verbatim(f"  {kubectl} delete deployment keda-operator -n keda")
    screen.paragraph()
