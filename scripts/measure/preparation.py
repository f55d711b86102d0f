"""The initial state of a measurement: filled and audited once, then copied.

The audit runs on a copy, at the path of a cell's database.  It opens and closes the
database, and a measurement must start from the state that the fill left.
"""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from report.model.plan import Engine
from report.terms.rulebook import COMPACT, REORGANISED
from report.trust.known_failures import PREPARING
from scripts.machine.child_process import ProcessResult
from scripts.measure.audit import audit
from scripts.measure.driver_call import DriverCall, Duet, RunContext, without_places
from scripts.measure.result_check import CheckedAnswer, run_driver
from scripts.planning.disk_room import DiskFull, looks_full
from scripts.planning.order import ScheduledRepetition
from scripts.regime.regime_site import Site

# Never a reflink: it would write no page, and the copy would be read from the device.
_COPY = ("cp", "-a", "--reflink=never", "--sparse=auto", "--")
_SYNC = ("sync", "--file-system")
# Copying and syncing are not measured, so a short --timeout does not apply to them.
_TOOL_TIMEOUT_S = 600.0
CELL = "cell"  # the folder of a cell's database


class PrepareFailed(Exception):
    """A step before the measurement failed; a failed fill or audit fails the unit."""

    def __init__(self, checked: CheckedAnswer, exit_text: str | None) -> None:
        super().__init__(checked.reason)
        self.checked, self.exit = checked, exit_text


def prepare(context: RunContext, scheduled: ScheduledRepetition) -> int | None:
    """Fill and audit the database that a unit shares.

    Return the wall time of the fills and the audit in ns, or None if the unit starts
    from an empty database.  Raises PrepareFailed.
    """
    cell = context.plan.cells[scheduled.index]
    start = context.plan.start(cell)
    if start is None:
        return None
    database = context.scratch.fresh("prepared")
    call, wall_ns = DriverCall(cell, scheduled.repetition, database, ""), 0
    for number, name in enumerate(start.fill, 1):
        is_last = number == len(start.fill)
        after = tuple((step, ()) for step in start.fill[: number - 1])
        settle = start.settled and is_last
        call = replace(call, benchmark=name, after=after, settle=settle)
        outcome, checked = run_driver(context, call)
        wall_ns += outcome.wall_ns
        _check(checked, outcome)
    history = tuple((step, ()) for step in start.fill)
    if start.state == REORGANISED:
        call = replace(call, benchmark=COMPACT, after=history, settle=True)
        outcome, checked = run_driver(context, call)
        wall_ns += outcome.wall_ns
        _check(checked, outcome)
    copy = provide(replace(context, duet=None), scheduled)
    result = audit(context, replace(call, database=copy), history)
    _check(result.judged("audit", checked), result.outcome)
    shutil.rmtree(copy, ignore_errors=True)
    return wall_ns + result.outcome.wall_ns


def _check(checked: CheckedAnswer, outcome: ProcessResult) -> None:
    """Raise PrepareFailed if the process failed."""
    if not checked.ok:
        reason = f"{PREPARING}{checked.reason}"
        raise PrepareFailed(CheckedAnswer(checked.status, reason, {}), outcome.exit)


def provide(
    context: RunContext, scheduled: ScheduledRepetition, site: Site | None = None
) -> Path:
    """Put a cell's initial state in place, and sync the file system.

    Nothing older is then written back during the measurement.  Return the folder of the
    database.  Raises PrepareFailed, DiskFull, WorkFolderLost or RegimeError.
    """
    cell = context.plan.cells[scheduled.index]
    enters = partial(context.enters, cell, scheduled.repetition)
    if context.duet and context.duet.is_again:
        database = context.work / CELL
    else:
        database = site.clear(CELL) if site else context.scratch.fresh(CELL)
        if context.plan.start(cell) is not None:
            database.rmdir()  # cp would copy into a folder that exists
            copy = (*_COPY, str(context.work / "prepared"), str(database))
            enters("copying", 0)
            _tool(context, copy, site)
            if context.duet:
                _copy_again(context, context.plan.engine(cell.engine), database)
    if context.duet:
        _copy_plugins(context, context.duet)
    enters("syncing the file system", 0)
    _tool(context, (*_SYNC, str(context.work)))
    if site:
        site.evict(database)
    return database


def _copy_again(context: RunContext, engine: Engine, database: Path) -> None:
    """Put the second copy of a duet's database in place, made like the first.

    What an engine has written itself is read at a rate that differs by a tenth, because
    its pages are cached in another way.
    """
    name = f"db_bench_{engine.executable}"
    copy = str(context.work / "prepared" / name), str(database / f"{name}-duet")
    _tool(context, (*_COPY, *copy))


def _copy_plugins(context: RunContext, duet: Duet) -> None:
    """Copy both plug-ins: code from a linker's own file differs by a hundredth."""
    for plugin, copied in zip(duet.plugins, context.duet_plugins, strict=True):
        copied.unlink(missing_ok=True)
        shutil.copyfile(plugin, copied)


def _tool(
    context: RunContext, command: Sequence[str], site: Site | None = None
) -> None:
    """Run a system tool.  Raises DiskFull, WorkFolderLost or PrepareFailed."""
    timeout_s = max(context.plan.suite.timeout_s, _TOOL_TIMEOUT_S)
    outcome = context.executor.run(command, timeout_s, (context.tick,))
    if outcome.exit != "0":
        context.scratch.check()
        if site and (reason := site.full):
            raise PrepareFailed(CheckedAnswer("error", reason, {}), outcome.exit)
        if looks_full(context.work, outcome.stderr_tail):
            raise DiskFull(f"the data directory {context.work.parent}")
        problem = f"{command[0]} failed (exit: {outcome.exit}): {outcome.stderr_tail}"
        reason = without_places(context, problem)
        raise PrepareFailed(CheckedAnswer("error", reason, {}), outcome.exit)
