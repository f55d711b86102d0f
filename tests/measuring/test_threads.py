"""Several threads, a writer next to readers, a mix: how they are run and audited."""

from pathlib import Path
from typing import Any

import pytest

from report.terms.rulebook import BENCHMARKS, process_flags
from report.trust.judge import load_run
from tests.support.lab import Lab, make_lab
from tests.support.resealed import edit_lines

FLAGS = {"num": 640, "key_size": 16, "value_size": 100, "threads": 4}
CELLS = ("readwhilewriting", "readrandomwriterandom", "fillrandom", "readrandom")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=CELLS, flags=FLAGS)
    lab.suite(latency=True)
    lab.engine("one", "threaded")
    return lab


def calls(lab: Lab) -> list[str]:
    """Return the calls of the executable, in order."""
    return lab.executable("one").with_suffix(".calls").read_text().splitlines()


def test_the_audit_is_given_what_each_thread_wrote(lab: Lab) -> None:
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 0, done.stderr
    fill = "after=filluniquerandom"
    expected = {
        "filluniquerandom threads=1 after=",
        f"verify threads=1 {fill}",
        f"readwhilewriting threads=4 {fill}",
        f"verify threads=1 {fill},readwhilewriting:7",
        f"readrandomwriterandom threads=4 {fill}",
        f"verify threads=1 {fill},readrandomwriterandom:640+640+640+640",
        "fillrandom threads=4 after=",
        "verify threads=1 after=fillrandom:160+160+160+160",
        f"readrandom threads=4 {fill}",
    }
    assert set(calls(lab)) == expected


def test_the_audit_is_given_what_the_warm_up_wrote(lab: Lab) -> None:
    cells = ("readrandomwriterandom", "readrandom")
    lab.scenario(benchmarks=cells, flags={**FLAGS, "warmup": "0.5s"})
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 0, done.stderr
    history = "filluniquerandom,readrandomwriterandom:250+250+250+250"
    history += ",readrandomwriterandom:640+640+640+640"
    assert f"verify threads=1 after={history}" in calls(lab)


def test_only_a_measurement_by_several_threads_gets_their_number() -> None:
    alone: dict[str, int] = {"num": 640, "reads": 100}
    flags = {**alone, "threads": 4}
    load, mix = BENCHMARKS["ycsbload"], BENCHMARKS["ycsbd"]
    assert process_flags(load, flags, False) == alone
    assert process_flags(BENCHMARKS["verify"], flags, True) == alone
    assert process_flags(mix, flags, True) == flags


def test_writing_benchmarks_are_audited_and_killed_while_timed(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "1")
    for name, lines in lab.by_cell().items():
        writes = name != "one/readrandom"
        assert [x["ending"] == "killed" for x in lines] == [False, writes]
        assert all((x["audit"] is not None) == writes for x in lines)
    ops = {name: lines[0]["ops"] for name, lines in lab.by_cell().items()}
    assert ops["one/readwhilewriting"] == ops["one/readrandom"] == 4 * 640
    assert ops["one/fillrandom"] == 640
    run = load_run(lab.run_folder)
    assert {cell.status for cell in run.cells.values()} == {"ok"}


def test_a_line_that_forgets_a_thread_is_wrong_in_the_report_too(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "1", "--no-latency")

    def change(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line["benchmark"] == "fillrandom":
                line["ops_by_thread"] = [160] * 3

    edit_lines(lab.measurements, change)
    wrong = [c for c in load_run(lab.run_folder).cells.values() if c.status == "wrong"]
    assert [cell.name.benchmark for cell in wrong] == ["fillrandom"]
    assert "480 operations by 3 threads, expected 640 by at most 4" in wrong[0].reason
