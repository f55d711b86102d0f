"""Folders that are removed or exchanged during a run, and engines that paint."""

import csv
import io
import json
import os
from dataclasses import replace
from itertools import compress
from pathlib import Path

import pytest

from report.trust.judge import load_run
from scripts.store import own_files
from scripts.store.run_places import WORK_FOLDER
from tests.fake_drivers.vandals import PRECIOUS
from tests.support.command_line import call
from tests.support.lab import Lab, make_lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=("fillseq", "fillrandom"))
    lab.suite()
    lab.engine("one", "honest")
    (tmp_path / PRECIOUS / "cell").mkdir(parents=True)
    for name in ("answer.json", "progress", "cell/file"):
        (tmp_path / PRECIOUS / name).write_text("precious")
    return lab


def precious(lab: Lab) -> list[str]:
    """Return the files of somebody else that are still what they were."""
    folder = lab.root / PRECIOUS
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert all(path.read_text() == "precious" for path in files)
    return sorted(str(path.relative_to(folder)) for path in files)


def test_a_run_whose_results_are_removed_stops_with_an_error(lab: Lab) -> None:
    lab.engine("bad", "removes_results")
    done = lab.call("run", "lab", "-n", "2")
    assert done.returncode == 2
    assert "measurements.jsonl was removed or replaced during the run" in done.stderr
    assert "are kept" not in done.stderr
    assert lab.data_files() == []


def test_a_run_whose_results_are_changed_stops_with_an_error(lab: Lab) -> None:
    lab.engine("bad", "cuts_results")
    done = lab.call("run", "lab", "-n", "2")
    assert (done.returncode, lab.lines()) == (2, [])
    assert "was changed by another program during the run" in done.stderr
    assert lab.call("resume", "@last").returncode == 2, "and its last engine again"


def test_nothing_is_written_into_a_linked_run(lab: Lab) -> None:
    lab.call("run", "lab", "-n", "1", "--no-report")
    folder, elsewhere = lab.run_folder, lab.root / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    lines = lab.measurements.read_bytes().splitlines(keepends=True)
    lab.measurements.write_bytes(b"".join(lines[:-1]))
    before = {path.name: path.read_bytes() for path in elsewhere.iterdir()}
    for done in (lab.call("resume", "@last"), call(["report", str(folder)])):
        assert done.returncode == 2 and f"is a link to {elsewhere}" in done.stderr
    assert {path.name: path.read_bytes() for path in elsewhere.iterdir()} == before
    assert call(["report", str(folder), "--format", "md"]).returncode == 0


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_a_run_whose_processors_are_taken_stops_and_can_be_resumed(lab: Lab) -> None:
    every = os.sched_getaffinity(0)
    lab.engine("bad", "confines")
    try:
        done = lab.call("run", "lab", "-n", "2", "--seed", "4")
    finally:
        os.sched_setaffinity(0, every)
    assert done.returncode == 3
    assert "machine: allowed_cpus was " in done.stderr
    assert " kept; continue with:" in done.stderr
    kept = lab.lines()
    assert "bad" not in {x["engine"] for x in kept if x["benchmark"] == "fillrandom"}
    assert lab.call("resume", "@last").returncode == 0
    assert lab.lines()[: len(kept)] == kept


@pytest.mark.parametrize("kind", ["removes_work", "links_work"])
def test_a_run_whose_work_folder_is_lost_stops_and_can_be_resumed(
    lab: Lab, kind: str
) -> None:
    lab.engine("bad", kind)
    done = lab.call("run", "lab", "-n", "2", "--seed", "4")
    assert done.returncode == 3
    assert ".kvmatrix-work was removed or replaced during the run" in done.stderr
    assert " kept; continue with:" in done.stderr
    assert {line["status"] for line in lab.lines()} <= {"ok"}
    assert precious(lab) == ["answer.json", "cell/file", "progress"]
    if kind == "links_work":
        refused = lab.call("resume", "@last")
        assert refused.returncode == 2
        assert ".kvmatrix-work: is a link to ../precious" in refused.stderr
        (lab.data / ".kvmatrix-work").unlink()
    kept = lab.lines()
    lab.install("bad", kind)
    assert lab.call("resume", "@last").returncode == 3
    assert lab.lines()[: len(kept)] == kept
    assert precious(lab) == ["answer.json", "cell/file", "progress"]


@pytest.mark.parametrize("verb", ["run", "plan", "resume"])
def test_what_a_killed_command_left_is_removed(lab: Lab, verb: str) -> None:
    words = {
        "run": ("run", "lab", "-n", "1"),
        "plan": ("plan", "lab", "--num", "10000", "--measure"),
        "resume": ("resume", "@last"),
    }[verb]
    if verb == "resume":
        assert lab.call("run", "lab", "-n", "1").returncode == 0
    for name in (".kvmatrix-work", ".kvmatrix-device"):
        (lab.data / name / "mounted").mkdir(parents=True)
        (lab.data / name / "disk.img").touch()
    lab.call(*words)
    assert not [*lab.data.glob(".kvmatrix-*")]


@pytest.mark.parametrize("name", [".kvmatrix-work", ".kvmatrix-device"])
@pytest.mark.parametrize("kind", ["link", "file", "mount"])
def test_what_is_not_a_folder_of_the_runner_is_left_alone(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, kind: str
) -> None:
    precious, path = tmp_path / "its" / "file", lab.data / name
    lab.data.mkdir(exist_ok=True)
    if kind == "mount":
        precious = path / "mounted disk" / "file"
        mountinfo = tmp_path / "mountinfo"
        point = str(precious.parent).replace(" ", "\\040")
        mountinfo.write_text(f"1 0 8:1 / {point} rw - ext4 /dev/sda1 rw\n")
        monkeypatch.setattr(own_files, "_MOUNTINFO", mountinfo)
    precious.parent.mkdir(parents=True)
    precious.touch()
    if kind == "link":
        path.symlink_to(precious.parent)
    elif kind == "file":
        path.touch()
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 2 and str(path) in done.stderr
    assert precious.exists() and (path.exists() or kind == "link")


def test_what_is_mounted_in_a_leftover_of_a_start_is_left_alone(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    point = lab.results / ".unfinished-20260101-000000-lab/mounted"
    point.mkdir(parents=True)
    (point / "file").touch()
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(f"1 0 8:1 / {point} rw - ext4 /dev/sda1 rw\n")
    monkeypatch.setattr(own_files, "_MOUNTINFO", mountinfo)
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 2 and str(point) in done.stderr
    assert (point / "file").exists()


def test_a_copied_run_is_continued_by_its_own_name(lab: Lab) -> None:
    lab.engine("bad", "removes_work")
    assert lab.call("run", "lab", "-n", "2", "--seed", "4").returncode == 3
    lab.run_folder.rename(lab.results / "copied")
    done = lab.call("resume", "copied")
    assert done.returncode == 3
    assert " resume copied " in " ".join(done.stderr.split())


def test_nothing_is_copied_into_the_target_of_a_link(lab: Lab) -> None:
    lab.engine("bad", "links_cell")
    done = lab.call("run", "lab", "-n", "2")
    assert done.returncode == 3
    assert precious(lab) == ["answer.json", "cell/file", "progress"]
    assert len(lab.lines()) == 8


def test_what_an_engine_prints_steers_neither_terminal_nor_log(lab: Lab) -> None:
    lab.engine("bad", "painting")
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 3
    output = done.stdout + done.stderr
    assert "::error::take me" in output
    for line in output.split("\n"):
        assert line.isprintable() and not line.startswith("::"), line
    run = str(lab.run_folder)
    for words in (("compare", run, run), ("report", run, "--format", "md")):
        shown = call([*words])
        assert all(line.isprintable() for line in shown.stdout.split("\n"))
    table = call(["report", run, "--format", "csv"]).stdout
    assert "\r" not in table and len(table.splitlines()) == 1 + len(lab.lines())
    rows = list(csv.reader(io.StringIO(table)))
    assert all(not field.startswith("=") for row in rows for field in row)


def test_a_crash_on_opening_costs_the_cell_and_says_so(lab: Lab) -> None:
    lab.engine("bad", "bus_error")
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 3
    reason = "crashed on opening what was written: signal 7 (SIGBUS)"
    failed = [line for line in lab.lines() if line["status"] != "ok"]
    assert [line["engine"] for line in failed] == ["bad", "bad"]
    assert all(reason in line["reason"] for line in failed)
    assert reason in done.stdout
    assert lab.data_files() == []
    assert json.loads(lab.measurements.read_text().splitlines()[0])["status"]


def test_what_belongs_to_another_user_is_left_alone(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = lab.data / WORK_FOLDER / "file"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    with monkeypatch.context() as patched:
        patched.setattr("os.geteuid", lambda: os.getuid() + 1)
        done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 2 and "belongs to another user" in done.stderr
    assert theirs.read_text() == "theirs" and not lab.results.exists()
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    page, able = lab.root / "page.html", os.access
    page.write_text("theirs")
    monkeypatch.setattr("os.access", lambda p, m: Path(p) != page and able(p, m))
    done = call(["report", str(lab.run_folder), "-o", str(page)])
    assert done.returncode == 2 and "is not writable" in done.stderr
    assert page.read_text() == "theirs"


def test_a_run_without_its_latencies_or_a_part_of_its_order_is_unfinished(
    lab: Lab,
) -> None:
    lab.suite(latency=True)
    assert lab.call("run", "lab", "-n", "2").returncode == 0
    assert not load_run(lab.run_folder).is_unfinished
    texts = lab.measurements.read_text().splitlines(keepends=True)
    timed = [json.loads(text)["pass"] == "latency" for text in texts]
    lab.measurements.write_text("".join(compress(texts, [not t for t in timed])))
    assert load_run(lab.run_folder).is_unfinished
    second = [json.loads(text)["repetition"] == 2 for text in texts]
    lab.measurements.write_text("".join(compress(texts, [not s for s in second])))
    run = load_run(lab.run_folder)
    order = tuple(unit for unit in run.plan.order if unit.repetition != 2)
    assert replace(run, plan=replace(run.plan, order=order)).is_unfinished
