"""The one error a person is shown without a traceback."""


class SetupError(Exception):
    """The set-up cannot go on; the message says why and what to do."""
