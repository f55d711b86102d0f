"""Shards of runs with fake engines, each in a directory of its own."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from report.model.ab_run import AbCell, AbRun, Repetition, Round
from report.model.plan_document import plan_of as plan_of_document
from report.model.run import Measurement, Run
from report.model.run_folder import NO_MEASUREMENTS, RecordedRun
from report.trust.judge import judge
from scripts.fleet.job_report import report_of
from tests.builders import synthetic_records, synthetic_run
from tests.support.command_line import call
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, make_lab
from tests.support.quiet_machine import quiet_machine

BENCHMARKS = ("readrandom", "fillseq")
CONTROL = "alpha-control"
NODE = "SLURMD_NODENAME"
AB_BENCHMARKS = ("fillrandom", "readrandom")
AB_ROUNDS = ("--screen-rounds", "4", "--confirm-rounds", "5", "--no-counts")


def make_site(folder: Path) -> Lab:
    """Return a lab with two engines, of which the first is the control."""
    lab = make_lab(folder)
    lab.scenario(benchmarks=BENCHMARKS)
    lab.suite(more='control = "one"\n')
    lab.engine("one", "honest")
    lab.engine("two", "honest")
    return lab


def begun_fleet(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a fleet whose jobs end at once, with nothing."""
    nothing = lab.root / "nothing"
    nothing.write_text("#!/bin/sh\n")
    nothing.chmod(0o755)
    monkeypatch.setattr(
        "scripts.fleet.block_jobs.command_of", lambda *_: [str(nothing)]
    )
    monkeypatch.setattr("scripts.fleet.fleet_control.PERIOD_S", 0.01)
    done = lab.call("fleet", "run", "lab", "-n", "2", "--on", "local")
    assert done.returncode == 5
    assert "no block could be measured: " in done.stderr
    (path,) = lab.results.glob("*-fleet")
    return path


def places(lab: Lab) -> list[str]:
    """Return the options of the user's own directories."""
    options = ["--data-dir", str(lab.data), "--build-dir", str(lab.root / "build")]
    return [*options, "--configs-dir", str(lab.root / "configs")]


def block(lab: Lab, fleet: Path, number: int, node: str) -> dict[str, object]:
    """Have a node measure a block; return what it said."""
    words = ["fleet", "block", str(fleet), str(number), *places(lab)]
    done = call(words, quiet_machine(FakeExecutor), {NODE: node})
    assert done.returncode == 0, done.stderr
    return dict(report_of(done.stdout))


def make_ab_site(folder: Path) -> Lab:
    """Return a lab with an engine in two builds."""
    lab = make_lab(folder)
    lab.scenario(benchmarks=AB_BENCHMARKS)
    lab.suite()
    lab.engine("one", "honest")
    lab.install("one", "honest", build="other")
    return lab


def builds(lab: Lab) -> list[str]:
    """Return the options that name both builds."""
    return ["--a", str(lab.root / "build"), "--b", str(lab.root / "other")]


def place(line: Mapping[str, Any]) -> tuple[object, ...]:
    """Return where a line of an A/B run belongs."""
    of, cell = line["ab"], f"{line['scenario']}/{line['benchmark']}"
    return line["order"], cell, of["stage"], of["round"], of["slot"], of["side"]


def measure(lab: Lab, shard: str, machine: str, *words: str, code: int = 0) -> Path:
    """Measure a shard under a machine's name; return its folder, moved away."""
    done = lab.call(
        "run", "lab", "-n", "4", "--shard", shard, "--machine", machine, *words
    )
    assert done.returncode == code, done.stderr
    return moved(lab, f"{machine}-{shard.replace('/', '-of-')}")


def moved(lab: Lab, name: str) -> Path:
    """Move the only run to a directory of its own; return its folder there."""
    target = lab.root / name
    target.mkdir()
    return Path(shutil.move(lab.run_folder, target / lab.run_folder.name))


def three_shards(lab: Lab) -> list[Path]:
    """Measure a run on three machines; return the folders."""
    return [measure(lab, f"{i}/3", f"m-{i}") for i in (1, 2, 3)]


def merge(lab: Lab, *folders: Path, words: tuple[str, ...] = ()) -> Path:
    """Merge folders and return the folder of the run, moved away."""
    done = lab.call("merge", *map(str, folders), *words)
    assert done.returncode == 0, done.stderr
    return moved(lab, f"merged-{len(list(lab.root.glob('merged-*')))}")


def content(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a run folder."""
    text = (folder / "measurements.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def plan_of(folder: Path) -> dict[str, Any]:
    """Return run.json of a run folder."""
    plan: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return plan


Times = Mapping[str, Sequence[Sequence[float]]]  # engine -> chart -> repetitions


def many_machines_run(
    times: Times,
    machines: Sequence[str],
    path: Path,
    missing: tuple[str, str] = ("", ""),
) -> Run:
    """Return a judged run of charts with these times, in seconds per operation.

    `machines` has the machine of each repetition.  The control is CONTROL, of the first
    engine.  `missing` is an engine that one of the machines has not measured yet.
    Nothing is written to `path`.
    """
    charts = len(next(iter(times.values())))
    benchmarks = {f"bench{number}": 1.0 for number in range(charts)}
    names = [(name, name.title(), "", 1.0) for name in times if name != CONTROL]
    control = (CONTROL, "Again", "control", 1.0)
    document = synthetic_run.plan(
        [*names, control], [("base", "Base", benchmarks)], repetitions=len(machines)
    )
    document["engines"][-1]["twin_of"] = names[0][0]
    document["suite"] |= {"latency_repetitions": 0, "control": names[0][0]}
    facts = {name: {"cpu_model": f"of {name}"} for name in sorted({*machines})}
    document["machines"] = facts
    measurements = [
        Measurement.of(
            synthetic_records.line(
                cell,
                number,
                1.0 / times[cell["engine"]][int(cell["benchmark"][5:])][number - 1],
                machine=machine,
            )
        )
        for cell in document["cells"]
        for number, machine in enumerate(machines, 1)
        if (cell["engine"], machine) != missing
    ]
    lines = replace(NO_MEASUREMENTS, measurements=tuple(measurements))
    plan = plan_of_document(document, path)
    return judge(RecordedRun(path, plan, lines, synthetic_run.environment(), document))


_SPEEDS = (1.0, 1.3, 0.85, 1.1)


def machine_times(
    machines: Sequence[str],
    ratios: Mapping[str, float] | float = 2.0,
    noise: float = 0.01,
    noisy: str = "",
) -> dict[str, list[list[float]]]:
    """Return times of alpha, beta and the control in four charts, for the machines.

    `ratios` has how many times as long as alpha beta needs, by machine or on all; on
    machines that it lacks, 1.5 times.  The machine `noisy` has eight times the noise.
    """
    random = np.random.default_rng(1)
    names = sorted({*machines})
    speeds = np.asarray([_SPEEDS[names.index(m) % len(_SPEEDS)] for m in machines])
    spreads = np.asarray([noise * (8 if m == noisy else 1) for m in machines])

    def of(engine: str) -> list[float]:
        factors = np.ones(len(machines))
        if engine == "beta" and isinstance(ratios, Mapping):
            factors = np.asarray([ratios.get(m, 1.5) for m in machines])
        elif engine == "beta":
            factors = np.full(len(machines), ratios)
        wobble = np.exp(random.normal(0, 1, len(machines)) * spreads)
        return list(map(float, 1e-6 * speeds * factors * wobble))

    return {name: [of(name) for _ in range(4)] for name in ("alpha", "beta", CONTROL)}


def on_machines(
    run: AbRun,
    machines: Sequence[str],
    slower: Mapping[str, float] | None = None,
    cell: str = "",
) -> AbRun:
    """Return an A/B run whose blocks of two rounds are on these machines in turn.

    `slower` has by how much b is slower on a machine than in `run`, as a logarithm, in
    `cell`.  Each machine has a speed of its own.
    """

    def moved_to(machine: str, repetition: Repetition, of: AbCell) -> Repetition:
        factor = 1 + machines.index(machine) / 10
        if repetition.side == "b" and str(of.name) == cell:
            factor *= math.exp((slower or {}).get(machine, 0.0))
        record: Any = {**repetition.record, "machine": machine}
        ns_per_op = repetition.ns_per_op * factor
        return replace(repetition, ns_per_op=ns_per_op, record=record)

    def of_round(one: Round, of: AbCell) -> Round:
        machine = machines[(one.number - 1) // 2 % len(machines)]
        a, b = ([moved_to(machine, r, of) for r in side] for side in (one.a, one.b))
        return replace(one, a=(a[0], a[1]), b=(b[0], b[1]))

    cells = tuple(
        replace(
            of,
            screen=tuple(of_round(one, of) for one in of.screen),
            confirm=tuple(of_round(one, of) for one in of.confirm),
        )
        for of in run.cells
    )
    own = {"logical_cpus": 2, "memory_gib": 8, "file_system": "ext4", "kernel": "6.1.0"}
    facts = {m: {"cpu_model": f"of {m}", **own} for m in sorted({*machines})}
    return replace(run, cells=cells, plan=replace(run.plan, machines=facts))
