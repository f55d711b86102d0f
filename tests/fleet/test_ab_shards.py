"""A/B runs on several machines: one verdict from the rounds of all."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any, cast

import pytest

from report.model.build_facts import DIFFERS, machine_words
from report.model.record import Record
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge
from report.verdict.new_history_entry import entry_of
from tests.builders.synthetic_durability import setting, tried
from tests.builders.synthetic_records import retimed
from tests.fleet.many_machines import (
    AB_BENCHMARKS,
    AB_ROUNDS,
    builds,
    content,
    lines_of,
    make_ab_site,
    moved,
    place,
)
from tests.support.command_line import CommandResult
from tests.support.lab import Lab
from tests.support.resealed import edit_lines, edit_plan


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return make_ab_site(tmp_path)


def ab(lab: Lab, *words: str) -> CommandResult:
    return lab.call("ab", "lab", *builds(lab), *AB_ROUNDS, *words)


def screened(lab: Lab, count: int) -> list[Path]:
    """Measure the screen in shards; return their folders."""
    folders = []
    for index in range(1, count + 1):
        shard = f"{index}/{count}"
        done = ab(lab, "--shard", shard, "--machine", f"m-{index}")
        assert done.returncode == 0, done.stderr
        assert f"shard     {shard}: " in done.stdout
        folders.append(moved(lab, f"screen-{index}-of-{count}"))
    return folders


def merge(lab: Lab, *folders: Path) -> tuple[CommandResult, Path]:
    """Merge folders; return the result and the folder of the run, moved away."""
    done = lab.call("merge", *map(str, folders))
    assert done.returncode in (0, 3), done.stderr
    return done, moved(lab, f"merged-{len(list(lab.root.glob('merged-*')))}")


def confirmed(lab: Lab, merged: Path, count: int) -> list[Path]:
    """Measure the confirmation in shards; return their folders."""
    folders = []
    for index in range(1, count + 1):
        target = lab.results / merged.name
        shutil.copytree(merged, target)
        shard = ("--shard", f"{index}/{count}", "--machine", f"c-{index}")
        done = lab.call("resume", merged.name, *builds(lab), *shard)
        assert done.returncode == 0, done.stderr
        shutil.rmtree(target)
        folders.append(moved(lab, f"confirm-{index}"))
    return folders


@pytest.mark.slow
def test_the_rounds_are_those_of_one_machine(lab: Lab) -> None:
    """In the same order, with the same sides, each round whole on one machine."""
    _, merged = merge(lab, *screened(lab, 3))
    assert ab(lab).returncode == 0
    assert [place(x) for x in lines_of(merged)] == [place(x) for x in lab.lines()]
    machines: dict[tuple[str, int], set[str]] = {}
    for line in lines_of(merged):
        pair = line["benchmark"], (line["ab"]["round"] - 1) // 2
        machines.setdefault(pair, set()).add(line["machine"])
    assert all(len(of) == 1 for of in machines.values())
    assert len(set.union(*machines.values())) == 3


@pytest.mark.slow
def test_any_order_gives_the_same_bytes(lab: Lab) -> None:
    folders = screened(lab, 3)
    runs = [content(merge(lab, *o)[1]) for o in itertools.permutations(folders)]
    assert all(run == runs[0] for run in runs)


def test_the_same_parts_are_merged_once(lab: Lab) -> None:
    folders = screened(lab, 2)
    for parts, is_new in ((folders, True), (folders[::-1], False)):
        done = lab.call("merge", *map(str, parts))
        assert done.returncode == 0, done.stderr
        assert (f"already merged: {lab.run_folder}\n" in done.stderr) != is_new


def test_equal_builds_have_a_verdict_without_confirmation(lab: Lab) -> None:
    done, merged = merge(lab, *screened(lab, 2))
    assert done.returncode == 0, done.stderr
    result = judge(load_ab_run(merged))
    assert result.exit_code == 0
    assert [*result.run.plan.machines] == ["m-1", "m-2"]


def test_two_machines_of_one_name_are_refused(lab: Lab) -> None:
    folders = screened(lab, 2)
    for folder, cpus in zip(folders, ("0", "0-1"), strict=True):

        def use(plan: dict[str, Any], cpus: str = cpus) -> None:
            plan["machine"].update(allowed_cpus=cpus)
            plan["shard"].update(machine="m-1")

        edit_plan(folder, use)
    done = lab.call("merge", *map(str, folders))
    assert done.returncode == 2
    assert "machine m-1 is not the one of" in done.stderr
    assert "allowed_cpus differ" in done.stderr


@pytest.mark.slow
def test_a_slower_build_is_confirmed_on_several_machines(lab: Lab) -> None:
    lab.install("one", "slower", build="other")
    done, merged = merge(lab, *screened(lab, 2))
    assert done.returncode == 3
    assert "to be confirmed: on each machine, scripts/kvmatrix resume" in done.stderr
    folders = confirmed(lab, merged, 3)
    whole, both = merge(lab, merged, *folders)
    assert whole.returncode == 0, whole.stderr
    result = judge(load_ab_run(both))
    assert result.exit_code == 1
    assert {*result.run.plan.machines} == {"m-1", "m-2", "c-1", "c-2", "c-3"}
    assert [len(cell.confirm) for cell in result.run.cells] == [5, 0]
    again = merge(lab, *reversed(folders), merged)[1]
    assert content(again) == content(both)


@pytest.mark.slow
def test_a_confirmation_needs_its_screen(lab: Lab) -> None:
    """Nothing is written without it: which cells are suspects is not known."""
    lab.install("one", "slower", build="other")
    screen = screened(lab, 2)
    _, merged = merge(lab, *screen)
    confirmation = confirmed(lab, merged, 2)
    for parts in (confirmation, [screen[0], *confirmation]):
        done = lab.call("merge", *map(str, parts))
        assert done.returncode == 2
        remedy = "add its shards, or the merged run of the screen"
        assert (
            f"the screen of one/base/{AB_BENCHMARKS[0]} is not complete; {remedy}"
            in (done.stderr)
        )
        assert not list(lab.results.glob("*"))
    assert merge(lab, *screen, *confirmation)[0].returncode == 0


def test_a_confirmation_of_another_screen_leaves_nothing(lab: Lab) -> None:
    lab.install("one", "slower", build="other")
    _, merged = merge(lab, *screened(lab, 1))
    confirmation = confirmed(lab, merged, 1)
    screen = merged / "measurements.jsonl"

    def even(lines: list[dict[str, Any]]) -> None:
        times = {x["benchmark"]: x["loop_ns"] for x in lines if x["ab"]["side"] == "a"}
        lines[:] = [{**retimed(cast(Record, x), times[x["benchmark"]])} for x in lines]

    edit_lines(screen, even)
    done = lab.call("merge", str(merged), *map(str, confirmation))
    assert done.returncode == 2
    assert "do not fit together: confirm round of one/base/fillrandom" in done.stderr
    assert not list(lab.results.glob("*"))


def test_failed_cells_are_named(lab: Lab) -> None:
    lab.install("one", "crash", build="other")
    folders = []
    for index in (1, 2):
        done = ab(lab, "--shard", f"{index}/2", "--machine", f"m-{index}")
        assert done.returncode == 3
        folders.append(moved(lab, f"failed-{index}"))
    done, _ = merge(lab, *folders)
    assert done.returncode == 3
    failed = [x for x in done.stdout.splitlines() if x.startswith("ERROR     ")]
    assert len(failed) == 1
    assert failed[0].startswith("ERROR     one/base/fillrandom: side b: error: ")
    asked = lab.call("merge", *map(str, folders), "--json")
    assert asked.returncode == 3
    answer = json.loads(asked.stdout)
    assert answer["failed"] == ["one/base/fillrandom"]
    assert answer["missing"] == []


def test_its_history_is_that_of_these_machines_together(lab: Lab) -> None:
    """Other machines have other rates: a change of machines is no step."""
    folders = screened(lab, 2)
    _, both = merge(lab, *folders)
    _, one = merge(lab, folders[0])
    entries = [entry_of(judge(load_ab_run(folder))) for folder in (both, one)]
    names = [str(entry.machine["machine"]) for entry in entries]
    assert names[0].startswith("2 machines (") and names[1].startswith("1 machine (")
    assert entries[0].machine_key != entries[1].machine_key
    assert machine_words({"cpu_model": DIFFERS, "logical_cpus": 2}) == "2 CPUs"


@pytest.mark.slow
def test_passports_are_those_of_the_place_where_shards_are_merged(lab: Lab) -> None:
    lab.install("one", "slower", build="other")
    tried(lab.results, setting("one/buffered"))
    screen = screened(lab, 2)
    _, merged = merge(lab, *screen)
    for side in load_ab_run(merged).plan.sides.values():
        assert side.engine("one").passports.keys() == {"buffered"}
    shutil.rmtree(lab.results)
    lab.results.mkdir()
    _, bare = merge(lab, merged)
    for side in load_ab_run(bare).plan.sides.values():
        assert not side.engine("one").passports
    folders = confirmed(lab, merged, 2)
    tried(lab.results, setting("one/buffered"))
    whole, both = merge(lab, merged, *folders)
    assert whole.returncode == 0, whole.stderr
    assert content(merge(lab, *folders, *screen)[1]) == content(both)


def test_a_missing_shard_is_named(lab: Lab) -> None:
    folders = screened(lab, 2)
    done, merged = merge(lab, folders[0])
    assert done.returncode == 3
    assert "of the screen missing" in done.stderr
    shutil.copytree(merged, lab.results / merged.name)
    refused = lab.call("resume", merged.name, *builds(lab), "--shard", "1/2")
    assert refused.returncode == 2
    assert "merge the missing shards first" in refused.stderr


def test_a_machine_can_be_left_out(lab: Lab) -> None:
    """With its rounds, and not with those of others that were merged with them."""
    folders = screened(lab, 2)
    _, merged = merge(lab, *folders)
    rounds = len(lines_of(folders[1])) // 4
    for parts in ((merged,), folders):
        words = (*map(str, parts), "--without", "m-2", "--json")
        done = lab.call("merge", *words)
        assert done.returncode == 3, done.stderr
        answer = json.loads(done.stdout)
        assert answer["machines"] == ["m-1"]
        missing = f"machine m-2 was left out: {rounds} rounds missing"
        assert answer["missing"] == [missing]
        shutil.rmtree(lab.run_folder)
    unknown = lab.call("merge", str(merged), "--without", "zz")
    assert unknown.returncode == 2
    assert "no machine zz; the machines are m-1, m-2\n" in unknown.stderr
    nothing = lab.call("merge", *map(str, folders), *_without("m-1", "m-2"))
    assert nothing.returncode == 5
    assert "no results are left, so there is nothing to merge" in nothing.stderr


def _without(*machines: str) -> list[str]:
    return [word for machine in machines for word in ("--without", machine)]


def test_a_shard_is_resumed(lab: Lab) -> None:
    words = (*builds(lab), *AB_ROUNDS, "--shard", "1/2", "--machine", "m-1")
    assert lab.run_until_killed(9, "ab", "lab", *words)
    begun = lab.lines()
    half = lab.call("merge", str(lab.run_folder))
    assert half.returncode in (3, 5)
    for run in lab.results.glob("*-merged*"):
        shutil.rmtree(run)
    assert lab.call("resume", "@last", *builds(lab)).returncode == 0
    assert lab.lines()[: len(begun)] == begun
    first = moved(lab, "first")
    second = ab(lab, "--shard", "2/2", "--machine", "m-2")
    assert second.returncode == 0
    assert merge(lab, first, moved(lab, "second"))[0].returncode == 0


@pytest.mark.night("scripts/fleet", "scripts/ab")
def test_the_first_shard_counts(lab: Lab) -> None:
    for index in (1, 2):
        words = (*builds(lab), *AB_ROUNDS[:-1], "--shard", f"{index}/2")
        done = lab.call("ab", "lab", *words, "--machine", f"m-{index}")
        assert done.returncode == 0, done.stderr
        moved(lab, f"part-{index}")
    files = sorted(lab.root.glob("part-*/*/ab.json"))
    shards = [json.loads(file.read_text())["shard"] for file in files]
    assert [shard["counts"] for shard in shards] == [True, False]
    folders = [file.parent for file in files]
    done, merged = merge(lab, *folders)
    assert done.returncode == 0, done.stderr
    assert load_ab_run(merged).tools is not None


@pytest.mark.slow
def test_what_is_refused(lab: Lab) -> None:
    first, second = screened(lab, 2)
    copy = shutil.copytree(first, lab.root / "copy" / first.name)
    twice = lab.call("merge", str(first), str(copy))
    assert twice.returncode == 2
    assert "leave one of the two directories out" in twice.stderr
    assert ab(lab, "--shard", "1/1", "--machine", "m-3").returncode == 0
    all_of_it = moved(lab, "whole")
    overlap = lab.call("merge", str(first), str(all_of_it))
    assert overlap.returncode == 2
    assert f"{first} is shard 1/2 and {all_of_it} is shard 1/1 of the same run" in (
        overlap.stderr
    )
    many = ab(lab, "--shard", "9/9")
    assert many.returncode == 2
    assert "use fewer shards, or more rounds" in many.stderr
    _, merged = merge(lab, first, second)
    shutil.copytree(merged, lab.results / merged.name)
    bare = lab.call("resume", merged.name, "--a", "x", "--b", "y")
    assert bare.returncode == 0  # it is complete
    whole = lab.call("resume", str(first), *builds(lab), "--shard", "1/2")
    assert whole.returncode == 2
    assert "is not a merged run; leave it out" in whole.stderr
    lab.install("one", "slower", build="other")
    other = ab(lab, "--shard", "2/2", "--machine", "m-2")
    assert other.returncode == 0
    (folder,) = (p for p in lab.results.glob("*-ab-lab*") if "merged" not in p.name)
    foreign = lab.call("merge", str(first), str(folder))
    assert foreign.returncode == 2
    assert "are not shards of the same A/B run" in foreign.stderr
