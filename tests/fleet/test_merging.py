"""`merge`: one run of many shards, in any order; what it lacks and refuses."""

import errno
import io
import itertools
import json
import re
import shlex
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from report.model.plan import started_at
from report.trust.judge import load_run
from scripts.cli.merge_verb import merged_run
from scripts.show.output import Output
from tests.builders.synthetic_durability import setting, tried
from tests.fleet.many_machines import (
    BENCHMARKS,
    content,
    lines_of,
    make_site,
    measure,
    merge,
    moved,
    plan_of,
    three_shards,
)
from tests.support.command_line import call
from tests.support.lab import Lab
from tests.support.resealed import edit_lines, edit_plan

PARTS = 3


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return make_site(tmp_path)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, list[Path]]:
    """Three shards that no test changes."""
    lab = make_site(tmp_path_factory.mktemp("site"))
    return lab, three_shards(lab)


@pytest.mark.slow
def test_any_order_gives_the_same_bytes(measured: tuple[Lab, list[Path]]) -> None:
    lab, folders = measured
    runs = [content(merge(lab, *order)) for order in itertools.permutations(folders)]
    assert all(run == runs[0] for run in runs)


def test_passports_are_those_of_the_place_where_shards_are_merged(lab: Lab) -> None:
    """Each machine may know others; a merged run has what its own place knows."""
    first = measure(lab, "1/3", "m-1")
    tried(lab.results, setting("one/buffered"))
    others = [measure(lab, f"{i}/3", f"m-{i}") for i in (2, 3)]
    half = lab.call("merge", str(first), str(others[0]))
    assert half.returncode == 3, half.stderr
    merged_half = moved(lab, "half")
    assert load_run(merged_half).plan.engine("one").passports.keys() == {"buffered"}
    expected = content(merge(lab, first, *others))
    assert content(merge(lab, others[1], merged_half)) == expected
    shutil.rmtree(lab.results)
    assert lab.call("merge", str(merged_half)).returncode == 3
    assert not load_run(lab.run_folder).plan.engine("one").passports


def test_the_run_has_each_repetition_once_and_its_machine(
    measured: tuple[Lab, list[Path]],
) -> None:
    lab, folders = measured
    run = load_run(merge(lab, *folders))
    assert not run.is_unfinished
    assert [*run.plan.machines] == ["m-1", "m-2", "m-3"]
    for name, cell in run.cells.items():
        assert [m.repetition for m in cell.repetitions] == [1, 2, 3, 4], name
        assert len(cell.canaries) in (0, 3)
    for benchmark, number in itertools.product(BENCHMARKS, range(1, 5)):
        machines = {
            m.machine
            for m in run.measurements
            if (m.cell.benchmark, m.repetition) == (benchmark, number)
        }
        assert len(machines) == 1


def test_parts_are_as_one_run_of_the_same_blocks(lab: Lab) -> None:
    """Whoever measured a block, and in which shard, leaves no trace but its machine."""
    whole = measure(lab, "1/1", "m-1")
    parts = [_part(whole, lab.root / f"part-{n}" / whole.name, n) for n in range(PARTS)]
    expected = content(merge(lab, whole))
    for order in itertools.permutations(parts):
        assert content(merge(lab, *order)) == expected


def _part(whole: Path, folder: Path, number: int) -> Path:
    """Return a folder with a third of the units of a run, as a shard would have."""
    shutil.copytree(whole, folder)
    plan = plan_of(whole)
    units = [u for u in plan["shard"]["units"] if u // 3 % PARTS == number]
    starts = [0, *itertools.accumulate(len(cells) for _, cells in plan["order"])]
    own = {o for u in units for o in range(starts[u], starts[u + 1])}
    is_first = number == 0

    def narrow(document: dict[str, object]) -> None:
        changed = {"index": number + 1, "count": PARTS, "canary": is_first}
        document["shard"] = {**plan["shard"], **changed, "units": units}

    def keep(lines: list[dict[str, object]]) -> None:
        lines[:] = [
            line
            for line in lines
            if (is_first if line["pass"] == "canary" else line["order"] in own)
        ]

    edit_lines(folder / "measurements.jsonl", keep)
    edit_plan(folder, narrow)
    return folder


def test_what_is_missing_is_named_with_its_command(
    measured: tuple[Lab, list[Path]],
) -> None:
    lab, folders = measured
    done = lab.call("merge", str(folders[0]), str(folders[2]))
    merged = moved(lab, f"merged-{len(list(lab.root.glob('merged-*')))}")
    assert done.returncode == 3
    text = " ".join(done.stderr.split())
    command = "scripts/kvmatrix run lab -n 4"
    assert f"shard 2/3 is missing; measure it with: {command}" in text
    assert "--shard 2/3" in text and "blocks missing: base/" in text
    assert load_run(merged).is_unfinished
    again = merge(lab, merged, folders[1])
    assert _unnamed(again) == _unnamed(merge(lab, *folders))


def test_a_command_that_is_named_has_no_options_of_output(lab: Lab) -> None:
    words = ("--quiet", "--json", "--color", "never", "-k", "*/*/fillseq")
    folder = measure(lab, "1/2", "m-1", *words)
    done = lab.call("merge", str(folder))
    (command,) = (x for x in done.stderr.splitlines() if "shard 2/2 is missing" in x)
    found = shlex.split(command.partition("measure it with: ")[2])
    assert found[:5] == ["scripts/kvmatrix", "run", "lab", "-n", "4"]
    assert found[5] == "-k" and found[-2:] == ["--shard", "2/2"]
    assert not {"--quiet", "--json", "--color", "never", "--no-report"} & {*found}


def test_a_fleet_names_its_own_remedy(lab: Lab) -> None:
    folder = measure(lab, "1/2", "m-1")
    output = Output(quiet=True, as_json=False, no_report=True, color="never")
    began = started_at(folder.name)
    with redirect_stderr(io.StringIO()) as said, redirect_stdout(io.StringIO()):
        configs = lab.root / "configs"
        code = merged_run([folder], lab.results, configs, output, since=began)
    assert code == 3
    (warning,) = said.getvalue().splitlines()
    assert re.fullmatch(r"kvmatrix: warning: \d+ blocks missing: base/.*", warning)


def test_a_full_disk_leaves_nothing(
    measured: tuple[Lab, list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, folders = measured

    def fill(_file: Path, _parts: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("scripts.store.run_store._write_file", fill)
    done = lab.call("merge", *map(str, folders))
    assert done.returncode == 2
    assert "nothing was written; free some space" in done.stderr
    assert not list(lab.results.glob("*"))


def test_help_names_what_is_merged() -> None:
    text = " ".join(call(["merge", "--help"]).stdout.split())
    assert "measured with `--shard`: of run, ab or resume" in text
    assert "two that have the same repetition" in text
    assert "or cells remain to be confirmed; 5 nothing was measured" in text
    assert "merge results/*-ab-quick" in text


def _unnamed(folder: Path) -> list[dict[str, object]]:
    left = ("run", "plan", "checksum")
    return [{k: v for k, v in x.items() if k not in left} for x in lines_of(folder)]


def test_half_a_shard_is_merged_and_named(lab: Lab) -> None:
    folders = three_shards(lab)
    file = folders[1] / "measurements.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    done = lab.call("merge", *map(str, folders))
    assert done.returncode == 3
    command = f"scripts/kvmatrix resume {folders[1]}"
    assert f"shard 2/3 is unfinished; on its machine: {command}" in done.stderr
    assert load_run(lab.run_folder).is_unfinished


@pytest.mark.slow
def test_the_same_parts_are_merged_once(lab: Lab) -> None:
    folders = three_shards(lab)
    words = ["merge", *map(str, folders), "--results-dir", str(lab.results)]
    assert call(words).returncode == 0
    first = content(lab.run_folder)
    (lab.run_folder / "report.html").unlink()
    half = call([*words[:3], *words[-2:]])
    assert half.returncode == 3
    for parts in (words, ["merge", *reversed(words[1:4]), *words[4:]]):
        again = call(parts)
        assert again.returncode == 0
        path = lab.results / f"{folders[0].name}-merged"
        assert f"kvmatrix: already merged: {path}\n" in again.stderr
        assert f"report    {path}/report.html\n" in again.stdout
        assert content(path).keys() == first.keys()
    assert call([*words, "--quiet"]).stderr == ""
    second = lab.results / f"{folders[0].name}-merged-2"
    assert {p.name for p in lab.results.iterdir()} == {path.name, second.name}
    refused = call([*words[:3], *words[-2:]])
    assert refused.returncode == 3 and f"already merged: {second}\n" in refused.stderr
    edit_lines(path / "measurements.jsonl", lambda lines: lines[0].update(attempt=2))
    assert "already merged" not in call(words).stderr


def test_a_directory_of_shards_is_the_same_as_its_shards(
    measured: tuple[Lab, list[Path]], tmp_path: Path
) -> None:
    lab, folders = measured
    for number, folder in enumerate(folders):
        shutil.copytree(folder, tmp_path / f"{folder.name}-{number}")
    assert content(merge(lab, tmp_path)) == content(merge(lab, *folders))


CANNOT = "no space for overwrite"
DECLARED = f'[engine.known_failures]\noverwrite = "{CANNOT}"\n'


@pytest.mark.parametrize(("declared", "code"), [("", 3), (DECLARED, 0)])
def test_failed_cells_are_listed_as_run_lists_them(
    tmp_path: Path, declared: str, code: int
) -> None:
    lab = make_site(tmp_path)
    lab.scenario(benchmarks=("fillseq", "overwrite"))
    lab.engine("three", "failed_overwrite", more=declared)
    folders = [measure(lab, f"{i}/2", f"m-{i}", code=code) for i in (1, 2)]
    done = lab.call("merge", *map(str, folders))
    assert done.returncode == code, done.stderr
    word = "known    " if declared else "ERROR    "
    failures = [x for x in done.stdout.splitlines() if x.startswith(word)]
    evidence = f"; known: {CANNOT}" if declared else ""
    assert failures == [f"{word} three/base/overwrite: {CANNOT}{evidence}"]
    assert "median operations per second" in done.stdout
    moved(lab, "first")
    asked = lab.call("merge", *map(str, folders), "--json")
    failed = [] if declared else ["three/base/overwrite"]
    assert json.loads(asked.stdout)["failed"] == failed
    assert asked.returncode == code


def _other_executable(lab: Lab) -> None:
    lab.install("two", "honest", build="build")
    path = lab.executable("two")
    path.write_text(f"{path.read_text()}# another build\n")


def _other_setting(lab: Lab) -> None:
    lab.scenario(benchmarks=BENCHMARKS, more="batch_size = 2\n")


def _other_engine(lab: Lab) -> None:
    lab.engine("three", "honest")


def _other_benchmark(lab: Lab) -> None:
    lab.scenario(benchmarks=("readrandom", "fillrandom"))


@pytest.mark.parametrize(
    ("change", "words", "problem"),
    [
        (_other_executable, (), "engine two: executable "),
        (_other_setting, (), "one/base: batch_size was not set, is now 2"),
        (_other_engine, (), "engine three: only here"),
        (_other_benchmark, (), "cells: "),
        (None, ("--seed", "7"), "seed: 301 there, 7 here"),
        (None, ("-n", "5"), "repetitions: 4 there, 5 here"),
    ],
)
def test_shards_of_another_run_are_refused(
    lab: Lab,
    change: Callable[[Lab], None] | None,
    words: tuple[str, ...],
    problem: str,
) -> None:
    first = measure(lab, "1/2", "m-1")
    if change:
        change(lab)
    second = measure(lab, "2/2", "m-2", *words)
    for order in ((first, second), (second, first)):
        done = lab.call("merge", *map(str, order))
        assert done.returncode == 2
        assert problem in done.stderr
        assert "merge only shards of one commit, build and command" in done.stderr
        assert not list(lab.results.glob("2*"))


def test_what_two_shards_measured_is_refused(lab: Lab) -> None:
    first = measure(lab, "1/2", "m-1")
    second = measure(lab, "1/2", "m-2")
    done = lab.call("merge", str(first), str(second))
    assert done.returncode == 2
    assert f"{first}" in done.stderr and f"{second}" in done.stderr
    assert re.search(r"the canary of (one|two|one-control)/base/\w+ is in", done.stderr)
    assert "leave one of the two directories out" in done.stderr


def test_a_directory_given_twice_counts_once(
    measured: tuple[Lab, list[Path]],
) -> None:
    lab, folders = measured
    above = [folder.parent for folder in folders]
    roundabout = above[0] / ".." / above[0].name / folders[0].name
    given = [*folders, folders[0], roundabout, *above]
    assert content(merge(lab, *given)) == content(merge(lab, *folders))


def test_shards_of_different_divisions_overlap(lab: Lab) -> None:
    first, second = measure(lab, "1/2", "m-1"), measure(lab, "1/3", "m-2")
    done = lab.call("merge", str(first), str(second))
    assert done.returncode == 2
    assert (
        f"{first} is shard 1/2 and {second} is shard 1/3 of the same run: shards of"
        " different divisions overlap; leave one of the two directories out"
    ) in done.stderr


def test_kinds_that_cannot_be_merged_are_told_apart(lab: Lab) -> None:
    own, ab, tried_out, fleet = (lab.root / n for n in ("own", "ab", "tried", "fleet"))
    for folder, plan in (
        *((own, "run.json"), (ab, "ab.json")),
        *((tried_out, "durability.json"), (fleet, "fleet.json")),
    ):
        folder.mkdir()
        (folder / plan).write_text("{}")
    for folders, problem in (
        (
            (own, ab),
            f"{own} is a shard of an ordinary run, {ab} of an A/B run; merge them"
            " separately",
        ),
        ((tried_out,), f"{tried_out} is a durability run, which has no shards"),
        ((fleet,), f"{fleet} is a fleet; continue with: scripts/kvmatrix fleet resume"),
    ):
        done = lab.call("merge", *map(str, folders))
        assert done.returncode == 2
        assert problem in done.stderr


def test_another_method_is_refused(lab: Lab) -> None:
    folders = [measure(lab, f"{i}/2", f"m-{i}") for i in (1, 2)]
    edit_plan(folders[1], lambda plan: plan.update(method=1))
    done = lab.call("merge", *map(str, folders))
    assert done.returncode == 2
    assert "recorded in method 1" in done.stderr


def test_a_whole_run_is_no_shard(lab: Lab) -> None:
    assert lab.call("run", "lab").returncode == 0
    done = lab.call("merge", str(lab.run_folder))
    assert done.returncode == 2
    assert "is a whole run, not a shard of one" in done.stderr


@pytest.mark.parametrize("name", ["run.json", "environment.json"])
def test_a_damaged_shard_is_named(lab: Lab, name: str) -> None:
    folders = [measure(lab, f"{i}/2", f"m-{i}") for i in (1, 2)]
    (folders[1] / name).unlink()
    done = lab.call("merge", *map(str, folders))
    assert done.returncode == 2
    assert str(folders[1]) in done.stderr
    assert not list(lab.results.glob("2*"))


def test_a_directory_without_runs_is_named(lab: Lab) -> None:
    done = lab.call("merge", str(lab.data))
    assert done.returncode == 2
    assert f"{lab.data}: contains no run.json or ab.json" in done.stderr


def test_shards_without_results_are_no_run(lab: Lab) -> None:
    folder = measure(lab, "1/2", "m-1")
    (folder / "measurements.jsonl").write_text("")
    done = lab.call("merge", str(folder))
    assert done.returncode == 5
    assert "nothing to merge" in done.stderr
