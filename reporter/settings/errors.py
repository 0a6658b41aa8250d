"""The errors of flags that are refused, and of a configuration by which no cluster can be reached."""


class SettingsError(Exception):
    """
    The error of a flag or command line that is refused; the text says what to do.

    *flag*: the flag or environment variable as it was given; empty if the error is about none.
    """

    def __init__(self, flag: str, text: str):
        self.flag = flag
        self.text = text
        super().__init__(f"{flag}: {text}" if flag else text)


class ConfigurationError(Exception):
    """The configuration to reach the cluster is missing or unusable; the text says what to do."""
