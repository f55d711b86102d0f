"""A plug-in of pytest: signals end what tests start, under nohup as anywhere.

nohup, and a shell that runs scripts/test in the background, have signals ignored, which
every program inherits.  A handler is not inherited.
"""

import signal

_IGNORED_BY_CALLERS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


def pytest_configure() -> None:
    """Replace ignored signals by handlers that do nothing."""
    for number in _IGNORED_BY_CALLERS:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
