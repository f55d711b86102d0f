"""A plug-in of pytest: signals end what tests start, under nohup as anywhere.

nohup, and a shell that runs scripts/test in the background, have signals ignored, which
every program inherits.  A handler is not inherited.
"""

import signal
from collections.abc import Callable
from typing import Any


def _do_nothing(*_: object) -> None:
    pass


_HANDLERS: dict[signal.Signals, Callable[..., Any]] = {
    signal.SIGHUP: _do_nothing,
    signal.SIGINT: signal.default_int_handler,  # scripts/test ends pytest with it
    signal.SIGQUIT: _do_nothing,
}


def pytest_configure() -> None:
    """Replace ignored signals by handlers."""
    for number, handler in _HANDLERS.items():
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)
