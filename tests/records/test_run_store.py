"""Writing results: whole lines, and folders that appear complete."""

import errno
import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from report.model.count_lines import COUNTS_FILE
from report.model.plan import Plan
from report.model.plan_document import plan_document
from report.model.record import LINES
from report.model.run_folder import read_current_plan
from report.terms.documents import ResultsError
from scripts.planning.disk_room import DiskFull
from scripts.store.folder_lock import FolderLocked, sole_user
from scripts.store.run_places import CannotStart, RunPlaces, refuse_shared_folder
from scripts.store.run_store import (
    AB,
    EVERY_KIND,
    RunFolder,
    RunFolderLost,
    all_runs,
    create_folder,
    drop_torn_line,
    find_run,
)
from scripts.store.whole_file import write_whole
from tests.builders.simple_plans import engine, plan


def create(results: Path, run_plan: Plan, environment: Mapping[str, Any]) -> None:
    documents = {"environment": environment, "run": plan_document(run_plan)}
    create_folder(results, run_plan.run, documents).close()


def test_a_run_folder_appears_whole(tmp_path: Path) -> None:
    run_plan = plan([engine("a")])
    create(tmp_path, run_plan, {"schema": 1, "cpu": {"model": "x"}})
    assert read_current_plan(tmp_path / run_plan.run) == run_plan
    names = {p.name for p in (tmp_path / run_plan.run).iterdir()}
    assert names == {"run.json", "environment.json", "measurements.jsonl"}


def test_leftovers_of_a_killed_start_are_removed(tmp_path: Path) -> None:
    left, notes = ".unfinished-20260102-030400-lab", ".unfinished-notes"
    for name in (left, notes):  # one of them is somebody else's
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
    create(tmp_path, plan([engine("a")]), {"schema": 1})
    assert {p.name for p in tmp_path.iterdir()} == {"20260102-030405-lab", notes}


def test_a_document_that_cannot_be_written_leaves_no_folder(tmp_path: Path) -> None:
    run_plan = plan([engine("a")])
    with pytest.raises(ValueError, match="JSON"):
        create(tmp_path, run_plan, {"schema": 1, "cpu": {"mhz": math.nan}})
    assert list(tmp_path.iterdir()) == []


def opened(results: Path) -> RunFolder:
    """Return a new run folder, open for appending."""
    run_plan = plan([engine("a")])
    documents = {"environment": {"schema": 1}, "run": plan_document(run_plan)}
    results.mkdir(exist_ok=True)
    return create_folder(results, run_plan.run, documents)


def test_a_line_has_its_checksum_and_that_of_its_plan(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.append({"line": 1})
    folder.close()
    text = (folder.path / "measurements.jsonl").read_bytes()
    line, run = json.loads(text), json.loads((folder.path / "run.json").read_bytes())
    assert [*line] == ["line", "plan", "checksum"]
    assert line["plan"] == run["checksum"]
    digest = hashlib.sha256(text[: text.index(b'"checksum"')]).hexdigest()
    assert line["checksum"] == digest[:16]


@pytest.mark.parametrize("what", ["removed", "replaced", "emptied", "renamed"])
def test_a_folder_that_is_lost_stops_the_run(tmp_path: Path, what: str) -> None:
    folder = opened(tmp_path / "results")
    folder.append({"line": 1})
    if what == "renamed":
        folder.path.rename(tmp_path / "elsewhere")
    else:
        shutil.rmtree(folder.path)
    if what in ("replaced", "emptied"):
        folder.path.mkdir()
    if what == "replaced":
        (folder.path / "measurements.jsonl").touch()
    with pytest.raises(RunFolderLost, match="was removed or replaced during the run"):
        folder.append({"line": 2})
    with pytest.raises(RunFolderLost):
        folder.check()
    folder.close()


def link(path: Path, target: Path) -> None:
    path.symlink_to(target)


@pytest.mark.parametrize("make", [link, os.link], ids=["symbolic", "hard"])
@pytest.mark.parametrize("name", ["measurements.jsonl", "counts.jsonl"])
def test_lines_are_not_appended_through_a_link(
    tmp_path: Path, make: Callable[[Path, Path], None], name: str
) -> None:
    folder = opened(tmp_path / "results")
    folder.close()
    target = tmp_path / "somebody's file"
    target.write_text("precious, without a newline")
    (folder.path / name).unlink(missing_ok=True)
    if make is link:
        make(folder.path / name, target)
    else:
        make(target, folder.path / name)
    for write in (
        lambda: RunFolder(folder.path, name),
        lambda: drop_torn_line(folder.path / name, 0),
    ):
        with pytest.raises(ResultsError, match="link"):
            write()
    assert target.read_text() == "precious, without a newline"


def test_a_write_that_is_cut_short_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = opened(tmp_path)
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, content: write(fd, content[:7]))
    folder.append({"line": 1})
    folder.append({"line": 2})
    lines = (folder.path / "measurements.jsonl").read_text().splitlines()
    assert [json.loads(text)["line"] for text in lines] == [1, 2]
    folder.close()


@pytest.mark.parametrize(
    ("number", "error", "text"),
    [
        (errno.ENOSPC, DiskFull, "results directory"),
        (errno.EDQUOT, DiskFull, "results directory"),
        (errno.EFBIG, OSError, "File too large"),
        (errno.EIO, OSError, "Input/output error"),
    ],
)
def test_a_line_that_does_not_fit_leaves_no_trace_and_says_why(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    error: type[Exception],
    text: str,
) -> None:
    folder = opened(tmp_path)
    folder.append({"line": 1})
    before = (folder.path / "measurements.jsonl").read_bytes()
    write = os.write

    def fail_after_half(fd: int, content: bytes) -> int:
        monkeypatch.setattr(os, "write", fail)
        return write(fd, content[: len(content) // 2])

    def fail(_fd: int, _content: bytes) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "write", fail_after_half)
    with pytest.raises(error, match=text):
        folder.append({"line": 2})
    assert (folder.path / "measurements.jsonl").read_bytes() == before
    folder.close()


@pytest.mark.parametrize("function", ["write", "fsync"])
def test_no_space_is_reported_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    folder = opened(tmp_path)

    def fail(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(DiskFull):
        folder.append({"line": 1})
    assert (folder.path / "measurements.jsonl").read_bytes() == b""
    folder.close()


def test_every_line_is_synced_before_append_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, synced = opened(tmp_path), []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_size))
    folder.append({"line": 1})
    assert synced == [(folder.path / "measurements.jsonl").stat().st_size]
    folder.close()


def test_values_that_are_not_numbers_are_not_written(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        folder.append({"loop_ns": float("nan")})
    folder.close()


def test_a_folder_has_one_user_at_a_time(tmp_path: Path) -> None:
    with (
        sole_user(tmp_path, "results"),
        pytest.raises(FolderLocked, match="another run is using the results directory"),
        sole_user(tmp_path, "results"),
    ):
        pass
    with sole_user(tmp_path, "results"):
        pass


def test_an_ambiguous_beginning_is_refused(tmp_path: Path) -> None:
    for name in ("20260101-a", "20260102-a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
    assert find_run(tmp_path, "@last").name == "20260102-a"
    assert find_run(tmp_path, "20260101").name == "20260101-a"
    with pytest.raises(ResultsError, match="more than one run"):
        find_run(tmp_path, "2026")
    with pytest.raises(ResultsError, match="@last: no runs in"):
        find_run(tmp_path / "none", "@last")


def test_a_run_from_the_future_is_not_the_last_for_ever(tmp_path: Path) -> None:
    for name in ("22620101-000000-lab", "20260101-000000-lab", "20260102-000000-lab"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps({"run": name}))
    names = [path.name[:8] for path in all_runs(tmp_path)]
    assert names == ["22620101", "20260101", "20260102"]
    assert find_run(tmp_path, "@last").name == "20260102-000000-lab"


def test_runs_are_counted_backwards_and_by_their_kind(tmp_path: Path) -> None:
    kinds = {"20260101-a": "run", "20260102-ab-a": "ab", "20260103-a": "run"}
    for name, kind in kinds.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{kind}.json").touch()
    with pytest.raises(ResultsError, match="20260102-ab-a is an A/B run; expected"):
        find_run(tmp_path, "20260102")
    with pytest.raises(
        ResultsError, match=r"only 2 runs in .*, not counting 1 A/B run"
    ):
        find_run(tmp_path, "@-3")
    assert find_run(tmp_path, "@-1").name == "20260103-a"
    assert find_run(tmp_path, "@-2").name == "20260101-a"
    assert find_run(tmp_path, "@-2", EVERY_KIND).name == "20260102-ab-a"
    assert find_run(tmp_path, "@last", (AB,)).name == "20260102-ab-a"
    with pytest.raises(ResultsError, match="@-3: only 2 runs in"):
        find_run(tmp_path, "@-3")
    with pytest.raises(
        ResultsError, match="an A/B run; expected an ordinary run; judge"
    ):
        find_run(tmp_path, "20260102-ab-a")
    with pytest.raises(ResultsError, match="is an ordinary run; expected an A/B run"):
        find_run(tmp_path, "20260103", (AB,))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "RUN is empty; expected the name of a run"),
        ("@lst", "'@lst' is not a run; expected the name of a run, a path, @last or"),
        ("no/where", "^no/where: no such file or directory; expected"),
        ("2027", "no run '2027' in .*; the newest runs: 20260101-a"),
    ],
)
def test_a_name_of_no_run_is_refused(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(ResultsError, match=r"no run 'x' in .*; it has no runs"):
        find_run(tmp_path, "x")
    (tmp_path / "20260101-a").mkdir()
    (tmp_path / "20260101-a/run.json").touch()
    with pytest.raises(ResultsError, match=told):
        find_run(tmp_path, name)


def test_a_path_that_is_not_a_run_is_reported_as_such(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    message = (
        r"out is not a run: it contains no run\.json, ab\.json or durability\.json"
    )
    for name in ("out", str(tmp_path / "out")):
        with pytest.raises(ResultsError, match=message):
            find_run(tmp_path, name)
    (tmp_path / "out-of-date").mkdir()
    (tmp_path / "out-of-date/run.json").touch()
    assert find_run(tmp_path, "out").name == "out-of-date"  # a prefix is enough


def test_a_failed_write_names_the_target_and_the_option(tmp_path: Path) -> None:
    target = tmp_path / "none/report.html"
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(target, "text", "-o")
    assert caught.value.filename == f"-o {target}"
    assert caught.value.strerror == f"directory {tmp_path / 'none'} does not exist"


def test_a_report_is_replaced_atomically(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "report.html"
    write_whole(target, "good")

    def full(_fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, "better" * 10000)
    assert target.read_text() == "good"
    assert list(tmp_path.iterdir()) == [target]


def test_a_report_is_not_written_through_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "there.html", tmp_path / "link.html"
    target.write_text("precious")
    link.symlink_to(target)
    building = tmp_path / f".page.html.{os.getpid()}.unfinished"
    building.symlink_to(target)
    with pytest.raises(OSError, match=r"is a link to .*there\.html; name that file"):
        write_whole(link, "text")
    write_whole(tmp_path / "page.html", "text")
    assert (target.read_text(), link.is_symlink()) == ("precious", True)
    assert (tmp_path / "page.html").read_text() == "text"


@pytest.mark.parametrize("name", ["run.json", "environment.json", LINES, COUNTS_FILE])
def test_a_report_does_not_replace_what_was_measured(tmp_path: Path, name: str) -> None:
    write_whole(tmp_path / name, "text")  # in a folder that is not a run's
    (tmp_path / "ab.json").touch()
    with pytest.raises(OSError, match="is a file of a run; choose another name"):
        write_whole(tmp_path / name, "other")
    assert (tmp_path / name).read_text() == "text"


def test_a_report_can_go_into_a_device(capfd: pytest.CaptureFixture[str]) -> None:
    write_whole(Path("/dev/null"), "text")
    write_whole(Path("/dev/stdout"), "text")
    assert capfd.readouterr().out == "text"


@pytest.mark.parametrize(
    ("data", "results", "message"),
    [
        ("x", "x", "are the same directory"),
        ("x/y", "x", "the data directory is inside the results directory"),
        ("x", "x/y/../z", "the results directory is inside the data directory"),
    ],
)
def test_data_and_results_are_two_folders(
    tmp_path: Path, data: str, results: str, message: str
) -> None:
    places = RunPlaces(tmp_path, tmp_path / results, tmp_path, tmp_path / data)
    with pytest.raises(CannotStart, match=message):
        refuse_shared_folder(places)
    refuse_shared_folder(RunPlaces(tmp_path, tmp_path / "x", tmp_path, tmp_path / "xy"))


def test_the_last_run_is_the_youngest_whatever_its_folder_is_called(
    tmp_path: Path,
) -> None:
    for name, run in (
        ("zebra", "20260101-000000-lab"),
        ("20260102-000000-lab", "20260102-000000-lab"),
        ("a-copy", "20260103-000000-lab"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps({"run": run}))
    assert [p.name for p in all_runs(tmp_path)][-2:] == [
        "20260102-000000-lab",
        "a-copy",
    ]
    (tmp_path / "20260104-000000-lab").mkdir()
    (tmp_path / "20260104-000000-lab/run.json").write_text("{torn")
    assert find_run(tmp_path, "@last").name == "20260104-000000-lab"


@pytest.mark.parametrize("content", ["[" * 2000 + "]" * 2000, '{"a":' * 20_000])
def test_one_hostile_folder_does_not_hide_the_others(
    tmp_path: Path, content: str
) -> None:
    for name, text in (("20260101-000000-lab", "{}"), ("20250101-evil", content)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(text)
    assert find_run(tmp_path, "@last").name == "20260101-000000-lab"
