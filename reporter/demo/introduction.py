"""
What a newcomer is told before the story, and after it.
"""

from reporter.demo.folder import Folder, shown
from reporter.demo.screen import Screen


SOURCE = "source=productionstack-status-reporter"


def introduce(screen: Screen, folder: Folder, *, metrics: str, health: str) -> None:
    kubectl = f"kubectl --kubeconfig {shown(folder.kubeconfig)}"
    screen.say(
        "A healthy KAITO production stack on a small API server, and the real reporter that watches"
        " it over HTTP, with its waits cut to seconds. Things break and are mended, and it says so"
        " in Events. See for yourself, in another terminal:"
    )
    screen.verbatim(f"  {kubectl} get events -n kube-system --field-selector {SOURCE} -w")
    screen.verbatim(f"  {kubectl} get deploy -A")
    screen.verbatim(f"  {kubectl} describe deploy body-based-router -n kaito-system")
    screen.verbatim(f"  curl http://{metrics}/metrics http://{health}/status")
    screen.verbatim(f"  tail -f {shown(folder.log)}")


def conclude(screen: Screen, folder: Folder) -> None:
    screen.say()
    if not screen.terminal:
        screen.say("That was the story.")
        return
    kubectl = f"kubectl --kubeconfig {shown(folder.kubeconfig)}"
    screen.say(
        "That was the story. All of it stays up until Ctrl-C: break something yourself, and its"
        " Events go on here. For example:"
    )
    screen.verbatim(f"  {kubectl} delete deployment keda-operator -n keda")
    screen.say()
