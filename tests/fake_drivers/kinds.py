"""Fake engines by kind: the kind `disk_full` is the class DiskFull."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.fake_drivers import (
    answers,
    crash_tests,
    databases,
    declarations,
    processes,
    threaded,
    vandals,
)
from tests.fake_drivers.protocol import FakeDriver, Signalled

_MODULES = (answers, crash_tests, databases, declarations, processes, threaded, vandals)
_SHIM = """#!{python} -IS
import sys
sys.path.insert(0, {root!r})
from tests.fake_drivers.kinds import serve
serve("{kind}", "{engine}")
"""
_SERVE = re.compile(r'^serve\("(\w+)", "([\w-]+)"\)$', re.MULTILINE)


def class_of(kind: str) -> type[FakeDriver]:
    """Return the class of a kind; raise ValueError if the kind is unknown."""
    name = "".join(word.capitalize() for word in kind.split("_"))
    for module in _MODULES:
        driver = vars(module).get(name)
        if driver is not None and driver.__module__ == module.__name__:
            return driver
    raise ValueError(f"unknown kind {kind!r} of fake engine; see tests/fake_drivers/")


def shim(kind: str, engine: str) -> str:
    """Return the text of an executable that serves a kind under an engine's name."""
    root = str(Path(__file__).resolve().parents[2])
    return _SHIM.format(python=sys.executable, root=root, kind=kind, engine=engine)


def driver_of(
    text: str, command: Sequence[str], environment: Mapping[str, str]
) -> FakeDriver | None:
    """Return the fake engine that a shim with this text serves; None if not a shim."""
    if call := _SERVE.search(text):
        kind, engine = call.groups()
        return class_of(kind)(engine, command, environment)
    return None


def serve(kind: str, engine: str) -> None:
    """Run a fake engine as this process, to its end."""
    try:
        sys.exit(class_of(kind)(engine, sys.argv, os.environ).main())
    except Signalled as death:
        print(death.last_words, file=sys.stderr, flush=True)
        os.kill(os.getpid(), death.signum)
