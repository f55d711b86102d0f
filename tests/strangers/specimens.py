"""Folders of every kind that a stranger can hand over, each with a part missing.

A specimen is a lab with one such folder.  It is built once and copied for each row of
the table; the copy is edited as a stranger would.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from report.terms.regime import COLD, DEFAULT_READ_AHEAD_BYTES, LOOP, Regime
from scripts.machine.child_process import Executor
from scripts.machine.system_access import SystemAccess
from tests.durability.crash_lab import make_crash_lab
from tests.fleet.many_machines import AB_ROUNDS, builds, make_ab_site, make_site
from tests.places import BUILD
from tests.strangers.cuts import write_cut
from tests.strangers.forgery import Set
from tests.strangers.jobs_in_process import in_process
from tests.support.command_line import call
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, make_lab
from tests.support.quiet_machine import quiet_machine

GIVEN = "given"  # the name of the folder, in the results directory
MISSING_BLOCK = "missing-block"  # a file of a lab with a fleet: its number
TORN = "20260101-000000-torn"  # the run of a block that is not finished
HONEST = "honest"  # of a run of the victim's own, next to it
_LEFT = 3  # lines that are taken away
_PLUGIN = "memory"  # the engine of a real plug-in


def _ok(done: Any, code: int = 0) -> None:
    assert done.returncode == code, done.stderr


def _handed_over(lab: Lab, lines: str = "measurements.jsonl", left: int = _LEFT) -> Lab:
    """Rename the only run, and take its last lines away."""
    (run,) = (p for p in lab.results.iterdir() if p.is_dir())
    shutil.copytree(run, lab.results / HONEST)
    given = run.rename(lab.results / GIVEN)
    whole = (given / lines).read_bytes().splitlines(keepends=True)
    (given / lines).write_bytes(b"".join(whole[: len(whole) - left]))
    return lab


def run(folder: Path) -> Lab:
    """Return an ordinary run with a row of each role."""
    lab = make_lab(folder)
    lab.scenario(
        benchmarks=("readrandom", "fillseq"), more='[exclude]\nthree = "why"\n'
    )
    lab.suite(more='control = "one"\n')
    lab.engine("one", "honest")
    lab.engine("two", "honest", more='floor = "ground"\n')
    lab.engine("three", "honest", more='binding_of = "one"\n')
    lab.engine("basis", "honest", role="reference")
    lab.engine("ground", "honest", role="floor")
    lab.engine("two-b", None, role="variant", more='variant_of = "two"\n')
    lab.engine("absent", None)
    every = "one,two,three,basis,ground,two-b,absent"
    words = ("run", "lab", "-e", every, "-n", "2", "--no-latency", "--control")
    _ok(lab.call(*words), 3)
    return _handed_over(lab)


def whole(folder: Path) -> Lab:
    """Return a complete run, with a control."""
    lab = make_site(folder)
    _ok(lab.call("run", "lab", "-n", "4", "--no-latency", "--control"))
    return _handed_over(lab, left=0)


def undurable(folder: Path) -> Lab:
    """Return a run of a machine whose writes cannot be durable."""
    lab = make_lab(folder)
    lab.scenario(benchmarks=("fillseqsync", "readrandom"))
    lab.suite()
    lab.engine("one", "honest")
    words = lab.arguments("run", "lab", "-n", "2", "--no-latency")
    _ok(call(words, system_of("undurable", FakeExecutor)))
    return _handed_over(lab, left=1)


def limited(folder: Path) -> Lab:
    """Return a run whose scenario has a memory limit and a disk."""
    lab = make_lab(folder)
    lab.scenario(benchmarks=("readrandom",))
    lab.suite()
    lab.engine("one", "honest")
    _ok(lab.call("run", "lab", "-n", "2"))
    _handed_over(lab, left=1)
    regime = Regime(
        cache=COLD,
        memory_limit_bytes=64 << 20,
        device=LOOP,
        device_bytes=512 << 20,
        file_system="ext4",
        read_ahead_bytes=DEFAULT_READ_AHEAD_BYTES,
    )
    more = 'memory_limit = "64MiB"\ndevice = "loop"\ndevice_size = "512MiB"\n'
    lab.scenario(benchmarks=("readrandom",), more=f"[regime]\n{more}")
    limit = Set("run.json", ("scenarios", 0, "regime"), regime.document())
    limit.apply_value(lab.results / GIVEN, limit.value)
    return lab


def system_of(
    kind: str, executor: Callable[[Mapping[str, str]], Executor]
) -> SystemAccess:
    """Return the machine on which a specimen is continued.

    On that of a limited run nothing may be measured: it would need root.
    """
    quiet = quiet_machine(executor)
    if kind == "undurable":
        return replace(quiet, not_durable=lambda _machine: "in memory")
    if kind == "limited":
        return replace(quiet, no_regime=lambda *_: "root is needed")
    return quiet


def shard(folder: Path) -> Lab:
    """Return a shard of two, next to the other one."""
    lab = make_site(folder)
    words = ("run", "lab", "-n", "2", "--no-latency", "--shard")
    _ok(lab.call(*words, "1/2", "--machine", "m-1"))
    lab.run_folder.rename(lab.results / GIVEN)
    honest = lab.results / HONEST
    _ok(lab.call(*words, "2/2", "--machine", "m-2"))
    (other,) = (p for p in lab.results.iterdir() if p.name != GIVEN and p.is_dir())
    other.rename(honest)
    return lab


def ab(folder: Path) -> Lab:
    """Return an A/B run."""
    lab = make_ab_site(folder)
    _ok(lab.call("ab", "lab", *builds(lab), *AB_ROUNDS))
    return _handed_over(lab)


def whole_ab(folder: Path) -> Lab:
    """Return a complete A/B run."""
    lab = ab(folder)
    shutil.rmtree(lab.results / GIVEN)
    (lab.results / HONEST).rename(lab.results / GIVEN)
    return lab


def suspects(folder: Path) -> Lab:
    """Return a merged A/B run whose suspects are to be confirmed on two machines."""
    lab = make_ab_site(folder)
    lab.install("one", "slower", build="other")
    shards = []
    for number in (1, 2):
        words = ("--shard", f"{number}/2", "--machine", f"m-{number}")
        _ok(lab.call("ab", "lab", *builds(lab), *AB_ROUNDS, *words))
        shards.append(lab.run_folder.rename(lab.root / f"shard-{number}"))
    _ok(lab.call("merge", *map(str, shards)), 3)
    return _handed_over(lab, left=0)


def plugged(folder: Path) -> Lab:
    """Return a run of an engine that is configured but not built, and of another."""
    lab = make_lab(folder)
    lab.scenario(benchmarks=("readrandom",))
    lab.suite()
    lab.engine("one", "honest")
    lab.engine("absent", None)
    _with_real_plugins(lab)
    _ok(lab.call("run", "lab", "-n", "2"), 3)
    return _handed_over(lab, left=0)


def _with_real_plugins(lab: Lab) -> None:
    drivers = lab.root / "build/drivers"
    drivers.joinpath("db_bench_plugin").symlink_to(BUILD / "drivers/db_bench_plugin")
    library = BUILD / f"drivers/{_PLUGIN}-plugin.so"
    drivers.joinpath(f"{_PLUGIN}.so").symlink_to(library)


def durability(folder: Path) -> Lab:
    """Return a durability run of two engines, of which one has no line yet."""
    lab = make_crash_lab(folder, "crash_tested", "is_unable", kills=1)
    _ok(lab.call("durability", "tiny"))
    _handed_over(lab, "trials.jsonl", 0)
    lines = lab.results / GIVEN / "trials.jsonl"
    kept = [x for x in lines.read_text().splitlines(True) if '"crash-tested"' not in x]
    lines.write_text("".join(kept))
    return lab


def violated(folder: Path) -> Lab:
    """Return a durability run whose trial, which needs root, finds a violation."""
    ways = {"methods": ["log"], "file_systems": ["ext4"]}
    lab = make_crash_lab(folder, "loses_the_newest", states=4, recordings=1, **ways)
    (folder / "build/common").mkdir()
    (folder / "build/common/block_log").symlink_to(BUILD / "common/block_log")
    _ok(lab.call("durability", "tiny"))
    _handed_over(lab, "trials.jsonl", 1)
    shutil.rmtree(lab.results / GIVEN / "reproducers")
    return lab


def plugged_durability(folder: Path) -> Lab:
    """Return a durability run of an engine behind a real plug-in, without lines."""
    lab = make_crash_lab(folder, kills=1)
    lab.engine(_PLUGIN, None)
    _with_real_plugins(lab)
    _ok(lab.call("durability", "tiny"))
    return _handed_over(lab, "trials.jsonl", 1)


def cut(folder: Path) -> Lab:
    """Return a reproducer of a durability run."""
    lab = make_crash_lab(folder, "crash_tested")
    write_cut(lab.results / GIVEN)
    return lab


def fleet(folder: Path) -> Lab:
    """Return a fleet of which one block is missing, and one is not finished."""
    lab = make_site(folder)
    places = lab.arguments("run", "lab")[2:]
    _launched(lab, "run", "lab", "-n", "2", "--no-latency", *places)
    given = lab.results / GIVEN
    *_, torn, newest = sorted(given.glob("machines/*/*"))
    taken = json.loads((newest / "run.json").read_text())["shard"]["index"]
    (lab.root / MISSING_BLOCK).write_text(str(taken))
    shutil.rmtree(newest)
    torn = torn.rename(torn.with_name(TORN))
    lines = (torn / "measurements.jsonl").read_text().splitlines(keepends=True)
    (torn / "measurements.jsonl").write_text("".join(lines[:-1]))
    return lab


def fleet_ab(folder: Path) -> Lab:
    """Return a fleet of an A/B run whose confirmation lacks its blocks."""
    lab = make_ab_site(folder)
    lab.install("one", "slower", build="other")
    words = ("ab", "lab", *builds(lab), *AB_ROUNDS, *lab.arguments("ab")[1:])
    _launched(lab, *words, code=1)
    given = lab.results / GIVEN
    shutil.rmtree(given / "confirmation/machines")
    (given / "confirmation/machines").mkdir()
    return lab


def _launched(lab: Lab, *words: str, code: int = 0) -> None:
    """Measure a fleet on this machine; keep its folder and the merged run."""
    with in_process() as begin:
        _ok(begin(["fleet", *words, "--on", "local"]), code)
    (made,) = lab.results.glob("*-fleet")
    given = made.rename(lab.results / GIVEN)
    (merged,) = (p for p in lab.results.glob("2*") if p.is_dir())
    merged.rename(lab.results / HONEST)
    shutil.rmtree(given / "jobs", ignore_errors=True)


def history(folder: Path) -> Lab:
    """Return a history of one entry."""
    lab = ab(folder)
    given, place = lab.results / HONEST, lab.root / "history"
    words = ["history", "add", str(given), "--history-dir", str(place)]
    _ok(call(words))
    shutil.rmtree(lab.results / GIVEN)
    place.rename(lab.results / GIVEN)
    return lab


MAKERS: dict[str, Callable[[Path], Lab]] = {
    make.__name__: make
    for make in (
        *(run, whole, undurable, limited, shard, plugged),
        *(ab, whole_ab, suspects),
        *(durability, plugged_durability, violated, cut),
        *(fleet, fleet_ab, history),
    )
}


class Specimens:
    """The specimens of a session of tests, each built when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built = cache(self._build)

    def _build(self, kind: str) -> Path:
        folder = self._folder / kind
        folder.mkdir(parents=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("SLURMD_NODENAME", raising=False)
            MAKERS[kind](folder)
        return folder

    def copied(self, kind: str, folder: Path) -> Lab:
        """Copy a specimen into a new folder."""
        shutil.copytree(self._built(kind), folder, symlinks=True)
        return Lab(folder)
