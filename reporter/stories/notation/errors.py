"""The error of a story that cannot be replayed."""


class StoryError(ValueError):
    """
    Raised for a notation that means nothing. The text says what is wrong and what to write.

    *key*: where in the story it is, if it is in none of its steps.
    """

    def __init__(self, text: str, key: str = "given") -> None:
        super().__init__(text)
        self.key = key
