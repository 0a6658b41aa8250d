"""The command ``completion``, and what kubectl asks for its plugin."""

from collections.abc import Callable, Mapping, Sequence

from reporter.cli import completion_bash as bash
from reporter.cli import completion_fish as fish
from reporter.cli import completion_kubectl as kubectl
from reporter.cli import completion_zsh as zsh
from reporter.cli.completion_words import CommandWords, command_words
from reporter.settings import SettingsError


RENDERERS: Mapping[str, Callable[[Sequence[CommandWords]], str]] = {
    "bash": bash.render,
    "zsh": zsh.render,
    "fish": fish.render,
}


def run_completion(arguments: Sequence[str]) -> int:
    """Print the script of a shell. Raises SettingsError for another one."""
    if len(arguments) != 1 or arguments[0] not in RENDERERS:
        raise SettingsError("", f"name one shell: completion {'|'.join(RENDERERS)}")
    print(RENDERERS[arguments[0]](command_words()))
    return 0


def run_kubectl_completion(words: Sequence[str]) -> int:
    """Print the completions of a line with these words after the plugin's name."""
    print(kubectl.render(command_words(), words))
    return 0
