"""Counting the work of two builds: the tools, their processes, and the lines stored."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

import pytest

from report.model.count_lines import read_count_lines
from report.model.judgement import SAME
from report.model.plan import CellName
from report.terms.rulebook import Flags
from report.verdict.count_verdicts import counted
from scripts.ab.count_pass import count_cells, interleaved
from scripts.ab.counting_tools import STRACE, VALGRIND, Tool, find_tools
from scripts.ab.reduced_cell import reduced_flags, reduced_plan
from scripts.machine.child_process import PeriodicCall, ProcessResult, Spawner
from scripts.measure.driver_call import RunContext
from scripts.planning.engine_program import program_of
from scripts.planning.executable import describe
from scripts.planning.found_engines import child_environment
from scripts.regime.regime_site import Sites
from scripts.store.own_files import WorkFolder
from tests.builders.count_reports import REFS, TABLE
from tests.builders.simple_plans import description, engine, plan
from tests.places import BUILD, PATIENCE_S
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, is_alive, make_lab

BENCHMARKS = ("readrandom", "fillseq")

_TOOL = ".tool"  # suffix of the path of a fake tool, which is also its report


@dataclass(frozen=True)
class ToolExecutor(FakeExecutor):
    """An executor that runs fake engines under fake tools too, and logs them."""

    def run(
        self,
        command: Sequence[str | Path],
        timeout_s: float,
        ticks: Sequence[PeriodicCall] = (),
        stdout: int | IO[bytes] = subprocess.DEVNULL,
    ) -> ProcessResult:
        tool = Path(command[0])
        if tool.suffix != _TOOL:
            return super().run(command, timeout_s, ticks, stdout)
        report, *rest = command[1:]
        outcome = super().run(rest, timeout_s, ticks, stdout)
        logged = [str(rest[0]), *(w for w in map(str, rest) if w.startswith("--n"))]
        with (tool.parent / "ran").open("a") as log:
            log.write(" ".join(logged) + "\n")
        shutil.copy(tool, report)
        return outcome


def fake_tool(
    folder: Path, text: str, like: Tool = VALGRIND, name: str = "tool"
) -> Tool:
    """Write a tool that reports the same for every process, and logs its commands."""
    path = (folder / name).with_suffix(_TOOL)
    path.write_text(text)
    options: Callable[[Path], Sequence[str]] = lambda report: (str(report),)  # noqa: E731
    return Tool(like.name, like.counts, options, like.parse, str(path), "")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.engine("one", "honest")
    return lab


def context_of(
    lab: Lab,
    build_dir: Path | None = None,
    benchmarks: Sequence[str] = BENCHMARKS,
    flags: Flags | None = None,
    names: Sequence[str] = ("one",),
) -> RunContext:
    """Return the bench of one side, over the executables that exist."""
    build_dir = build_dir or lab.root / "build"
    work = lab.data / "work"
    (work / "tmp").mkdir(parents=True, exist_ok=True)
    executor = ToolExecutor(child_environment(str(work / "tmp")))
    engines = []
    for name in names:
        program = program_of(build_dir, engine(name))
        engine_description = describe(executor, program, name, work / "tmp", "")
        engines.append(replace(engine(name), description=engine_description))
    values = {"num": 64, "key_size": 16, "value_size": 100} if flags is None else flags
    run_plan = plan(engines, benchmarks, flags={e.name: values for e in engines})
    return RunContext(
        plan=run_plan,
        build_dir=build_dir,
        stamps={name: program_of(build_dir, engine(name)).stamp() for name in names},
        scratch=WorkFolder(work),
        sites=Sites(lab.data / "device"),
        executor=executor,
        surroundings=cast(Any, None),
        lines=(),
        tick=PeriodicCall(lambda _pid: None, 1.0),
        starts=lambda _scheduled: None,
        enters=lambda *_: None,
    )


def count(
    a: RunContext,
    b: RunContext,
    tools: Sequence[Tool],
    done: Sequence[Any] = (),
    messages: list[str] | None = None,
) -> list[Any]:
    """Return the appended lines, except the end line."""
    lines = all_lines(a, b, tools, done, messages)
    ends = [line for line in lines if "end" in line]
    assert ends == lines[-1:]
    assert ends[0]["end"]["lines"] == len(done) + len(lines) - 1
    return lines[:-1]


def all_lines(
    a: RunContext,
    b: RunContext,
    tools: Sequence[Tool],
    done: Sequence[Any] = (),
    messages: list[str] | None = None,
) -> list[Any]:
    lines: list[Any] = []
    tell = (messages if messages is not None else []).append
    count_cells(a, b, a.plan.cells, lines.append, done, tell, tools)
    return lines


def both(folder: Path) -> list[Tool]:
    return [
        fake_tool(folder, TABLE, STRACE, "tool1"),
        fake_tool(folder, REFS, VALGRIND, "tool2"),
    ]


def test_the_sides_alternate_in_starting() -> None:
    order = "".join(side for side, _ in interleaved(3))
    assert order == "abbaab"


def test_each_repetition_is_a_line_with_the_counts_of_both_tools(
    lab: Lab, tmp_path: Path
) -> None:
    lines = count(context_of(lab), context_of(lab), both(tmp_path))
    assert len(lines) == 2 * 2 * 3
    for line in lines:
        assert (line["status"], line["reason"], line["exit"]) == ("ok", "", "0")
        assert (line["instructions"], line["write_calls"]) == (40_882_481, 5170)
        assert (line["sync_calls"], line["threads_started"]) == (9, 1)
        assert (line["ops"], line["num"]) == (64, 64)
        assert not any(key.endswith("_ns") for key in line)
    assert len({line["seed"] for line in lines}) == 1
    of_cell = [x for x in lines if x["benchmark"] == "fillseq"]
    assert "".join(line["side"] for line in of_cell) == "abbaab"
    assert [line["number"] for line in of_cell] == [1, 1, 2, 2, 3, 3]
    path = tmp_path / "counts.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    cells = [
        CellName(c.engine, c.scenario, c.benchmark) for c in context_of(lab).plan.cells
    ]
    stored = read_count_lines(path, {"run": "20260102-030405-lab"}, cells)
    assert list(stored.lines) == lines
    assert not stored.torn


def test_only_the_measured_process_runs_under_a_tool(lab: Lab, tmp_path: Path) -> None:
    context = context_of(lab)
    count(context, context, both(tmp_path))
    ran = (tmp_path / "ran").read_text().splitlines()
    assert len(ran) == 2 * 2 * 3 * 2
    assert {line.split()[0] for line in ran} == {str(lab.executable("one"))}


def test_nothing_is_left_in_the_data_directory(lab: Lab, tmp_path: Path) -> None:
    context = context_of(lab)
    count(context, context, both(tmp_path))
    assert lab.data_files() == ["work"]


def test_stored_counts_are_not_repeated(lab: Lab, tmp_path: Path) -> None:
    context, tools = context_of(lab), both(tmp_path)
    lines = count(context, context, tools)
    assert count(context, context, tools, done=lines) == []
    assert count(context, context, tools, done=lines[:7]) == lines[7:]
    assert count(context, context, tools, done=[*lines[:3], *lines[4:]]) == [lines[3]]


def test_a_difference_is_counted_nine_times(lab: Lab, tmp_path: Path) -> None:
    unthreaded = TABLE.replace("clone3", "pwrite64")
    context, tools = context_of(lab, benchmarks=["fillseq"]), both(tmp_path)
    tools = [fake_tool(tmp_path, unthreaded, STRACE, "tool1"), tools[1]]
    done = [
        {**line, "instructions": 30_882_481}
        for line in count(context, context, tools)
        if line["side"] == "a"
    ]
    lines = count(context, context, tools, done=done)
    later = [line for line in lines if line["number"] > 3]
    assert len(later) == 2 * 6
    assert max(line["number"] for line in lines) == 9


def test_an_absent_tool_is_reported_once_and_its_counts_are_null(
    lab: Lab, tmp_path: Path
) -> None:
    absent = replace(VALGRIND, problem="valgrind is not installed")
    messages: list[str] = []
    context = context_of(lab)
    lines = count(context, context, [both(tmp_path)[0], absent], messages=messages)
    assert {line["instructions"] for line in lines} == {None}
    assert {line["write_calls"] for line in lines} == {5170}
    assert {line["status"] for line in lines} == {"ok"}
    named = [text for text in messages if "not installed" in text]
    assert named == [
        "instructions: valgrind is not installed (apt-get install strace valgrind)"
    ]


def test_without_any_tool_nothing_is_counted(lab: Lab) -> None:
    absent = [replace(tool, problem="absent") for tool in (STRACE, VALGRIND)]
    messages: list[str] = []
    context = context_of(lab)
    (end,) = all_lines(context, context, absent, messages=messages)
    assert len(messages) == 2
    assert end["end"]["tools"] == {"strace": "absent", "valgrind": "absent"}


def test_a_tool_that_does_not_work_is_reported(tmp_path: Path) -> None:
    executor = Spawner(child_environment(str(tmp_path)))
    refusing = tmp_path / "bin"
    refusing.mkdir()
    (refusing / "strace").write_text(
        "#!/bin/sh\necho 'strace: not permitted' >&2\nexit 1"
    )
    (refusing / "strace").chmod(0o755)
    (refusing / "true").symlink_to("/bin/true")
    (refusing / "setpriv").symlink_to(shutil.which("setpriv") or "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(refusing))
        strace, valgrind = find_tools(executor, tmp_path)
    assert strace.problem == "strace does not work here: strace: not permitted"
    assert valgrind.problem == "valgrind is not installed"


def test_a_traced_process_dies_with_its_tracer(tmp_path: Path) -> None:
    strace = replace(STRACE, path=shutil.which("strace") or "")
    tracer = subprocess.Popen([*strace.under(tmp_path / "report"), "sleep", "3600"])
    children = Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children")
    patience_ends_s = time.monotonic() + PATIENCE_S
    traced = 0
    while time.monotonic() < patience_ends_s and not traced:
        for pid in map(int, children.read_text().split()):
            with suppress(OSError):  # strace tries out what the system can do
                is_it = Path(f"/proc/{pid}/comm").read_text() == "sleep\n"
                traced = pid if is_it else traced
    assert traced
    tracer.kill()
    tracer.wait()
    while time.monotonic() < patience_ends_s and is_alive(traced):
        time.sleep(0.01)
    assert not is_alive(traced)


def test_an_answer_that_its_audit_refutes_is_not_counted(
    lab: Lab, tmp_path: Path
) -> None:
    lab.engine("bad", "corrupt")
    context = context_of(lab, benchmarks=["fillrandom"], names=["bad"])
    lines = count(context, context, both(tmp_path))
    assert {line["status"] for line in lines} == {"wrong"}
    for line in lines:
        assert line["reason"].startswith("under strace: audit:")
        assert line["instructions"] is line["write_calls"] is line["ops"] is None


def test_a_report_that_cannot_be_read_is_an_error(lab: Lab, tmp_path: Path) -> None:
    tools = [fake_tool(tmp_path, "half a tab", STRACE)]
    context = context_of(lab, benchmarks=["fillseq"])
    lines = count(context, context, tools)
    assert {(x["status"], x["reason"]) for x in lines} == {
        ("error", "strace wrote no table")
    }


def test_a_cell_that_one_side_cannot_run_has_no_lines(lab: Lab, tmp_path: Path) -> None:
    able = context_of(lab, benchmarks=["fillseq"])
    missing = replace(
        able.plan, engines=(engine("one", missing="not built: there is none"),)
    )
    unable = replace(able, plan=missing)
    assert count(able, unable, both(tmp_path)) == []
    assert count(unable, able, both(tmp_path)) == []


def test_the_executable_is_given_the_reduced_work(lab: Lab, tmp_path: Path) -> None:
    flags = {"num": 1_000_000, "key_size": 16, "value_size": 100}
    context = context_of(lab, flags=flags, benchmarks=["fillseq"])
    lines = count(context, context, both(tmp_path))
    assert {line["num"] for line in lines} == {5000}
    ran = (tmp_path / "ran").read_text()
    assert "--num=5000" in ran
    assert "--num=1000000" not in ran


def reduced(benchmark: str, **flags: Any) -> dict[str, Any]:
    benchmark_description = description("one").benchmarks[benchmark]
    return reduced_flags(benchmark_description, {"num": 10**6, "key_size": 16, **flags})


def test_the_work_is_reduced_by_its_kind() -> None:
    assert reduced("fillseq")["num"] == 5000
    assert reduced("fillseq", num=300)["num"] == 300
    assert reduced("fillseqsync")["num"] == 100
    assert reduced("fillseq", sync=True)["num"] == 100
    assert reduced("fillseq", batch_size=1000)["num"] == 20_000
    assert reduced("readrandom", batch_size=1000)["num"] == 5000
    reads = reduced("readrandom", reads=10**6)
    assert (reads["num"], reads["reads"]) == (5000, 5000)
    assert reduced("readrandom", reads=-1)["reads"] == -1
    assert reduced("readrandom", reads=7)["reads"] == 7
    # 16 MiB in values of 100,000 bytes, a hundredth of num each
    assert reduced("fill100K")["num"] == 167 * 100
    assert reduced("fillseq", value_size=10**9)["num"] == 1


def test_a_time_limit_does_not_end_counted_work() -> None:
    assert {"duration", "rate"}.isdisjoint(reduced("fillseq", duration=5, rate=100.0))


def test_only_the_cell_itself_is_reduced() -> None:
    whole = plan([engine("one"), engine("two")])
    cell = CellName("one", "base", "fillseq")
    big: Flags = {"num": 10**6, "key_size": 16, "value_size": 100}
    scenario = replace(whole.scenarios[0], flags={"one": big, "two": big})
    whole = replace(whole, scenarios=(scenario,))
    small = reduced_plan(whole, cell)
    assert small.flags(cell)["num"] == 5000
    assert small.flags(CellName("two", "base", "fillseq")) == big
    assert (small.seed, small.run, small.cells) == (whole.seed, whole.run, whole.cells)
    assert small.suite.timeout_s == 120


@pytest.mark.slow
def test_one_real_build_counts_the_same_as_itself(lab: Lab) -> None:
    context = context_of(lab, BUILD, benchmarks=["fillseq"], names=["memory"])
    tools = find_tools(context.executor, context.work / "tmp")
    assert [tool.problem for tool in tools] == ["", ""]
    lines = count(context, context, tools)
    assert len(lines) == 2 * 3
    assert {line["status"] for line in lines} == {"ok"}
    assert all(line["instructions"] > 10**6 for line in lines)
    assert all(line["write_calls"] > 64 for line in lines)
    results = counted(CellName("memory", "base", "fillseq"), lines)
    assert [(r.name, r.verdict) for r in results] == [
        ("instructions", SAME),
        ("write_calls", SAME),
        ("sync_calls", SAME),
    ]
