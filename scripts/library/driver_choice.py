"""Which engines a library has here, and how its own source is compiled."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from report.config.pinned_source import PinnedSource
from scripts.basis.problem import SetupError
from scripts.provision import requested
from scripts.provision.requested import Chosen

_DRIVER = re.compile(r"(?m)^add_driver\(([\w-]+) ([\w./]+)([^)]*)\)")
_LIBRARIES = re.compile(r" LIBRARIES ([a-z\d ]+)")
_NOT_OF_LIBRARIES = ("common/", "gflags/", "sys/", "fcntl.h", "unistd.h")
_HEADER = re.compile(r'(?m)^#include [<"]([\w./]+\.h)[>"]')


@dataclass(frozen=True)
class LibraryDrivers:
    """The drivers of one library, and what it is built with."""

    library: str
    engines: tuple[str, ...]
    headers: tuple[str, ...]  # that its drivers include, with others
    own: PinnedSource | None  # how its source is compiled, if that is known
    needed: tuple[PinnedSource, ...]  # sources of other libraries, in order

    @property
    def sources(self) -> tuple[PinnedSource, ...]:
        """All pinned sources, in order."""
        return (*self.needed, *([self.own] if self.own else ()))


def drivers_of(library: str, root: Path) -> LibraryDrivers:
    """Return the drivers of a library.  Raises SetupError if there is none."""
    known = _known(root)
    if library not in known:
        owners = [f"{name}, for {library}" for name, e in known.items() if library in e]
        hint = f"; it is an engine of the library {owners[0]}" if owners else ""
        expected = ", ".join(known)
        raise SetupError(f"{library!r} has no driver here{hint}; expected {expected}")
    engines = known[library]
    chosen = _chosen(tuple(engines), root)
    sources = chosen.sources_of(chosen.engines)
    pinned = [source for engine in chosen.engines for source in engine.sources]
    own = pinned[-1] if pinned else None  # after those that it needs
    return LibraryDrivers(
        library,
        tuple(engines),
        _headers(root, engines),
        own,
        tuple(source for source in sources if source is not own),
    )


def _known(root: Path) -> dict[str, dict[str, str]]:
    """Return the drivers of each library: the engines, each with its source."""
    text = (root / "drivers/CMakeLists.txt").read_text("utf-8")
    known: dict[str, dict[str, str]] = {}
    for engine, source, rest in _DRIVER.findall(text):
        if libraries := _LIBRARIES.search(rest):
            known.setdefault(libraries[1].split()[0], {})[engine] = source
    return known


def _chosen(engines: Sequence[str], root: Path) -> Chosen:
    choice = requested.Choice(False, tuple(engines))
    chosen, problems = requested.chosen(choice, requested.read(root / "configs"))
    for problem in problems.values():
        raise SetupError(problem)
    return chosen


def _headers(root: Path, drivers: dict[str, str]) -> tuple[str, ...]:
    """Return the headers that drivers include, also by headers of their own."""
    todo = [f"drivers/{source}" for source in drivers.values()]
    found: dict[str, None] = {}
    for name in todo:
        for header in _HEADER.findall((root / name).read_text("utf-8")):
            if header.startswith("drivers/"):
                todo += [header] if header not in todo else []
            elif not header.startswith(_NOT_OF_LIBRARIES):
                found[header] = None
    return tuple(found)
