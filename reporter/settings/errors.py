"""
What is wrong with the configuration.
"""


class SettingsError(Exception):
    """
    *flag*: as it was given, a flag or an environment variable; empty for a stray argument.
    """

    def __init__(self, flag: str, text: str):
        self.flag = flag
        self.text = text
        super().__init__(f"{flag}: {text}" if flag else text)
