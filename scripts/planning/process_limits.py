"""Limits of this process, setrlimit(2), that are too low for a plan."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from report.model.plan import Engine, Plan
from report.terms import numbers
from scripts.machine.allotment import limit_of
from scripts.machine.reader import Reader

_SPARE_FILES = 100  # of the harness, and of an engine next to its tables
_USUAL_FILES = 1_024  # the default of Linux
# In an error that a limit explains: common/run/limits.cc.
_EXPLAINED = "(ulimit -"


@dataclass(frozen=True)
class LowLimit:
    """A limit that is too low, and what to do."""

    found: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.found}: {self.remedy}"


def too_low(plan: Plan, reader: Reader) -> Iterator[LowLimit]:
    """Yield the limits with which cells of a plan fail."""
    flags = [
        {"": cell.engine, **_defaults(plan.engine(cell.engine)), **plan.flags(cell)}
        for cell in plan.cells
        if not plan.obstacle(cell)
    ]
    for name, limit, say in (
        ("open_files", limit_of(reader, "open files"), _files),
        ("map_size", limit_of(reader, "address space"), _mapped),
    ):
        settings = [(int(of[name]), str(of[""])) for of in flags if of.get(name)]
        needed, engine = max(settings, default=(0, ""))
        if needed > limit:
            yield say(engine, needed, int(limit))


def _defaults(engine: Engine) -> dict[str, str]:
    return dict(engine.description.defaults) if engine.description else {}


def _files(engine: str, needed: int, limit: int) -> LowLimit:
    return LowLimit(
        f"the limit of open files is {limit:,} (ulimit -n), but {engine} keeps"
        f" {needed:,} open",
        f"raise it to {needed + _SPARE_FILES:,} or set open_files",
    )


def _mapped(engine: str, needed: int, limit: int) -> LowLimit:
    return LowLimit(
        f"the limit of address space is {numbers.size(limit)} (ulimit -v), but"
        f" {engine} maps {numbers.size(needed)} (--map_size)",
        "raise it (ulimit -v unlimited) or set map_size",
    )


def explained(engines: Sequence[Engine]) -> Iterator[LowLimit]:
    """Yield why engines cannot even describe themselves, if a limit is the cause."""
    for engine in engines:
        if _EXPLAINED in engine.missing:
            yield LowLimit(engine.missing, "raise it, or leave the engine out (-e)")


def unusual(reader: Reader) -> Iterator[LowLimit]:
    """Yield the limits with which an engine may fail."""
    files = limit_of(reader, "open files")
    if files < _USUAL_FILES:
        yield LowLimit(
            f"the limit of open files is {files:,.0f} (ulimit -n)",
            f"raise it to {_USUAL_FILES:,}",
        )
    for resource, option, effect in (
        ("address space", "-v", "engines that map their database may not start"),
        ("file size", "-f", "larger files of a database or a run fail"),
    ):
        limit = limit_of(reader, resource)
        if limit < float("inf"):
            size = numbers.size(limit)
            yield LowLimit(
                f"the limit of {resource} is {size} (ulimit {option}): {effect}",
                f"ulimit {option} unlimited",
            )
