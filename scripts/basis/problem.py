"""The error that is shown without a traceback."""


class SetupError(Exception):
    """The set-up cannot continue; the message says why and what to do."""
