"""Duets: processes that measure both builds alternately, as two plug-ins.

The program of one side loads the plug-in of the other too, and reports the processor
time of both (drivers/plugins/duet.h).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from report.model.ab_lines import side_at
from report.model.ab_plan import AbPlan
from report.model.plan import CellName, Engine, Plan
from report.model.record import AbPlace, Record
from report.terms.numbers import count
from report.terms.rulebook import WRITING_TYPES, Benchmark, Flags
from scripts.measure.driver_call import Duet, RunContext
from scripts.measure.loop import Finished, Task
from scripts.measure.repetition import Unit, emptied_folder
from scripts.measure.result_check import empty_record, without_figures
from scripts.planning.engine_program import Program, program_of
from scripts.planning.order import ScheduledRepetition
from scripts.store.run_places import PLUGINS, CannotStart

# The gets of a process, if the command line says nothing else: with fewer, the noise
# within a process is as large as that between processes.
READS = 400_000
_LEAST_READS = 8_000  # two groups of turns
_MOST_NAMED = 4


def check_duet(plan: AbPlan, build_dirs: Mapping[str, Path]) -> None:
    """Raise CannotStart if a cell or an engine cannot be measured in a duet."""
    for side, of in plan.sides.items():
        for engine in of.engines:
            program = program_of(build_dirs[side], engine)
            if not engine.missing and program.plugin is None:
                raise CannotStart(_no_plugin(program, engine, side, build_dirs[side]))
    unfit: dict[str, list[str]] = {}
    for cell in plan.able:
        if why := _why_unfit(plan.a, cell):
            unfit.setdefault(why, []).append(str(cell))
    if unfit:
        reasons = "; ".join(f"{why}: {_names(cells)}" for why, cells in unfit.items())
        raise CannotStart(
            "--duet measures gets, seeks and mixes of reads, of one thread;"
            f" {reasons}; choose other cells, e.g. -k '*/*/readrandom'"
        )


def _names(cells: Sequence[str]) -> str:
    more = len(cells) - _MOST_NAMED
    return ", ".join(cells[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _no_plugin(program: Program, engine: Engine, side: str, folder: Path) -> str:
    return (
        f"--duet loads both builds of an engine as plug-ins, but {engine.name} of side"
        f" {side} is the executable {program.name}; {plugin_remedy(engine, folder)}"
    )


def plugin_remedy(engine: Engine, folder: Path) -> str:
    """Return how to build an engine as a plug-in in a build folder."""
    build = folder.parent if folder.name == PLUGINS else folder
    if not (build / "CMakeCache.txt").is_file():
        return f"name a CMake build directory that has plugin_{engine.executable}"
    command = f"cmake --build {build} --target plugin_{engine.executable}"
    return f"build it as a plug-in: {command}"


def _why_unfit(plan: Plan, cell: CellName) -> str:
    """Return what cannot be measured in a cell, "" if it can be."""
    benchmark, scenario = plan.benchmark(cell), plan.scenario(cell.scenario)
    assert benchmark is not None, "cells that cannot run are not asked for"
    flags = plan.flags(cell)
    if benchmark.writer or not _only_reads(benchmark, flags):
        return "these cells do more than read"
    if benchmark.one_call:
        return "these cells make a single call"
    if int(flags.get("threads", 1)) > 1:
        return "these cells have several threads"
    if scenario.regime:
        return "these cells limit the memory of the process or use a disk of their own"
    if benchmark.planned_ops(flags) < _LEAST_READS:
        return f"these cells have fewer than {count(_LEAST_READS, 'operation')}"
    return ""


def _only_reads(benchmark: Benchmark, flags: Flags) -> bool:
    if benchmark.kind != "mix":
        return benchmark.kind == "read"
    shares = benchmark.shares(flags)
    return bool(shares) and not any(shares.get(kind) for kind in WRITING_TYPES)


def duet_task(
    contexts: Mapping[str, RunContext],
    places: Sequence[AbPlace],
    scheduled: ScheduledRepetition,
) -> Task:
    """Return the task of the missing places of a round, in their order.

    A process makes two: its leading side is loaded and opened first.  The second leads
    with the other side on the same copies of the database, because where a copy is in
    memory changes the rate of its side by several per cent.
    """
    plan = contexts[places[0]["side"]].plan
    lines = partial(_lines, contexts, places, scheduled)
    return Task(plan, lines, obstructed=False, place=places[0])


def _lines(
    contexts: Mapping[str, RunContext],
    places: Sequence[AbPlace],
    scheduled: ScheduledRepetition,
) -> Iterator[Finished]:
    """Yield the line of each place, up to one that failed."""
    lead = side_at(places[0]["side"], places[0]["slot"])
    unit, made = Unit(), 0
    with emptied_folder(contexts[lead]):
        for process, first in enumerate((lead, side_at(lead, 1))):
            of_process = [p for p in places if p["slot"] // 2 == process]
            if not of_process:
                continue
            context = _together(contexts, first, scheduled, is_again=made > 0)
            finished = unit.make(context, scheduled)
            for place in of_process:
                plan = contexts[place["side"]].plan
                line = _line(finished.line, place, first, plan)
                line["order"] = scheduled.order + made
                seconds = finished.seconds / len(of_process)
                yield replace(finished, line=cast(Record, line), seconds=seconds)
                if line["status"] != "ok":
                    return
                made += 1


def _together(
    contexts: Mapping[str, RunContext],
    first: str,
    scheduled: ScheduledRepetition,
    *,
    is_again: bool,
) -> RunContext:
    """Return the context of a process of both sides, led by one."""
    plugins = []
    for of in (contexts[first], contexts[side_at(first, 1)]):
        engine = of.plan.engine(of.plan.cells[scheduled.index].engine)
        plugin = program_of(of.build_dir, engine).plugin
        assert plugin, "check_duet() has seen it"
        plugins.append(plugin)
    return replace(contexts[first], duet=Duet((plugins[0], plugins[1]), is_again))


def _line(record: Record, place: AbPlace, first: str, plan: Plan) -> dict[str, Any]:
    """Return the line of one side of a process, given its plan and who led."""
    line: dict[str, Any] = {**record, "ab": place}
    if place["side"] != first and record["status"] == "ok":
        description = plan.engine(record["engine"]).description
        assert description, "it has been measured"
        line |= {"engine_version": description.version, "build": description.build}
    if record["status"] != "ok":
        return line
    side = "a" if place["side"] == first else "b"
    counters = record["counters"]
    cpu_ns, ops = counters.get(f"duet_{side}_cpu_ns"), counters.get("duet_calls")
    if not cpu_ns or not ops:
        problem = "reported no processor time of both sides; rebuild db_bench_plugin"
        return {**line, **empty_record(), **without_figures("error", problem)}
    return {**line, "ab": {**place, "duet": {"cpu_ns": cpu_ns, "ops": ops}}}
