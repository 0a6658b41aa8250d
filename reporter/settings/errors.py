"""The error of a configuration that is refused."""


class SettingsError(Exception):
    """
    Raised with what to do. *flag*: the flag or environment variable as given; empty if none is.
    """

    def __init__(self, flag: str, text: str):
        self.flag = flag
        self.text = text
        super().__init__(f"{flag}: {text}" if flag else text)


class ConfigurationError(Exception):
    """The configuration to reach the cluster is missing or unusable; the text says what to do."""
