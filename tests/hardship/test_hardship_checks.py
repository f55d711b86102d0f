"""The checks of a trial find what is wrong, and the table counts it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.hardship import ledger
from tests.hardship.adversities import (
    DAY_S,
    KILLS,
    KINDS,
    OTHERS,
    Signal,
    shifted_clock,
)
from tests.hardship.campaign import options_of, repeat_command, trials
from tests.hardship.outcome_table import BEGIN, END, Campaign, table, write_block
from tests.hardship.site import Site, Victim
from tests.hardship.trial import Outcome
from tests.places import ROOT

DOCUMENT = ROOT / "tests/TRIALS.md"


def line(**changed: Any) -> bytes:
    of = {"engine": "e", "scenario": "s", "benchmark": "b", "pass": "throughput"}
    document = {**of, "repetition": 1, "attempt": 1, **changed}
    return json.dumps(document).encode() + b"\n"


def place(**changed: Any) -> Mapping[str, Any]:
    return {"ab": {"side": "a", "stage": "screen", "round": 1, "slot": 0, **changed}}


def results_of(folder: Path, *lines: bytes, name: str = "measurements.jsonl") -> Path:
    (folder / "results/one").mkdir(parents=True, exist_ok=True)
    (folder / "results/one" / name).write_bytes(b"".join(lines))
    return folder / "results"


def test_a_torn_line_is_not_finished(tmp_path: Path) -> None:
    results = results_of(tmp_path, line(), line(repetition=2)[:-1])
    before = ledger.whole_lines(results)
    assert before == {"one/measurements.jsonl": line()}
    results_of(tmp_path, line(), line(repetition=3))
    assert ledger.lost_lines(before, results) == 0


@pytest.mark.parametrize(
    ("now", "lost"),
    [
        ([line(), line(attempt=2)], 0),
        ([line(), line(attempt=2), line(attempt=3)], 0),
        ([line()], 1),
        ([line(), line(attempt=2)[:-1]], 1),
        ([line(attempt=2)], 2),
        ([line(), line(attempt=2, status="ok")], 1),
        ([], 2),
    ],
)
def test_a_lost_or_changed_line_is_found(
    tmp_path: Path, now: list[bytes], lost: int
) -> None:
    results = results_of(tmp_path, line(), line(attempt=2))
    before = ledger.whole_lines(results)
    assert ledger.count_lines(before) == 2
    assert ledger.lost_lines(before, results_of(tmp_path, *now)) == lost


def test_the_lines_of_a_missing_file_are_lost(tmp_path: Path) -> None:
    results = results_of(tmp_path, line(), line(attempt=2))
    before = ledger.whole_lines(results)
    (results / "one/measurements.jsonl").unlink()
    assert ledger.lost_lines(before, results) == 2


@pytest.mark.parametrize(
    ("changed", "doubled"),
    [
        ({}, 1),
        ({"status": "error"}, 1),
        ({"attempt": 2}, 0),
        ({"pass": "latency"}, 0),
        (place(slot=3), 0),
    ],
)
def test_a_doubled_repetition_is_found(
    tmp_path: Path, changed: Mapping[str, Any], doubled: int
) -> None:
    results = results_of(tmp_path, line(), line(**changed))
    assert ledger.doubled_lines(results) == doubled


def test_doubled_slots_and_counts_are_found(tmp_path: Path) -> None:
    slots = [line(**place()), line(**place(side="b")), line(**place())]
    results = results_of(tmp_path, *slots)
    assert ledger.doubled_lines(results) == 1
    counts = [line(side="a", number=1), line(side="a", number=2)]
    results_of(tmp_path, *counts, counts[0], name="counts.jsonl")
    assert ledger.doubled_lines(results) == 2


@pytest.mark.parametrize(
    "name",
    ["data/.kvmatrix-work", "results/.unfinished-x", "results/one/.report.html.7"],
)
def test_what_is_left_is_found(tmp_path: Path, name: str) -> None:
    results, data = results_of(tmp_path, line()), tmp_path / "data"
    data.mkdir()
    assert not ledger.leftovers(results, data)
    (tmp_path / name).mkdir()
    assert [*ledger.leftovers(results, data)] == [name]


def test_a_traceback_is_found() -> None:
    assert not ledger.has_traceback("kvmatrix: disk full")
    assert ledger.has_traceback("x\nTraceback (most recent call last):\n  File")
    assert ledger.has_traceback("Exception ignored in: <_io.TextIOWrapper>")


def test_a_process_is_found_by_its_environment_until_it_ends(tmp_path: Path) -> None:
    site = Site(tmp_path)
    assert site.processes() == {}
    home = {"HOME": f"{tmp_path}/data/tmp"}
    child = subprocess.Popen(["sleep", "1000"], env=home, start_new_session=True)
    other = subprocess.Popen(["sleep", "1000"], env={"HOME": f"{tmp_path}-2/data"})
    try:
        while "sleep 1000" not in site.processes().values():
            assert child.poll() is None
            time.sleep(0.001)
        assert list(site.survivors(patience_s=0)) == [child.pid]
        site.kill_all()
        assert child.wait() == -signal.SIGKILL
        assert site.processes() == {} and other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_command_that_a_signal_ended_has_the_code_of_a_shell(tmp_path: Path) -> None:
    child = subprocess.Popen(["sleep", "1000"])
    victim = Victim(Site(tmp_path), child, tmp_path)
    assert victim.is_running
    Signal(signum=signal.SIGHUP).strike(victim, None)  # type: ignore[arg-type]
    assert victim.exit_code() == 128 + signal.SIGHUP


def test_the_clock_of_one_process_is_stepped(tmp_path: Path) -> None:
    offset, program = tmp_path / "offset", "import time; print(time.time())"
    library = {"LD_PRELOAD": str(shifted_clock(tmp_path)), "SHIFTED_CLOCK": str(offset)}
    for step in (0, DAY_S, -DAY_S):
        offset.write_text(str(step))
        shown = subprocess.check_output(
            [sys.executable, "-c", program], env={**os.environ, **library}
        )
        assert abs(float(shown) - time.time() - step) < DAY_S / 2


def test_each_verb_is_killed_as_often_as_requested() -> None:
    planned = list(trials(options_of(["--kills", "100", "--others", "20"])))
    assert len(planned) == 3 * 100 + 20 * len(OTHERS)
    assert sum(kind.verb(0) == "ab" for kind, _ in planned if kind in KILLS) == 100
    assert len({(kind.name, seed) for kind, seed in planned}) == len(planned)
    assert {kind for kind, _ in planned} == set(KINDS.values())
    removed = KINDS["results-removed"]
    verbs = [kind.verb(seed) for kind, seed in planned if kind == removed]
    assert all(verbs.count(verb) in (6, 7) for verb in ("run", "ab", "resume"))


def test_a_failed_trial_is_repeated_by_one_command() -> None:
    words = repeat_command(Outcome("suspended", 7), 2.0).partition("campaign ")[2]
    options = options_of(words.split())
    assert list(trials(options)) == [(KINDS["suspended"], 7)] and options.pause == 2


def test_the_table_counts_what_was_found(tmp_path: Path) -> None:
    bad = Outcome("hup-ab", 2, 5, 1, 2, 3, 4, ["lost"])
    campaign = Campaign("x", [Outcome("hup-ab", 1, 10), bad], {"data-full": "no mount"})
    rows = table(campaign)
    assert "\n| SIGHUP to `ab` | 2 | 15 | 1 | 2 | 3 | 4 | 1 |\n" in rows
    assert "\n| all | 2 | 15 | 1 | 2 | 3 | 4 | 1 |\n" in rows
    assert "not tried: no mount" in rows and not campaign.holds
    assert not Campaign("x", [bad], {}).holds and Campaign("x", [], {}).holds
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}\nearlier\n{END}\nafter\n")
    write_block(document, campaign)
    text = document.read_text()
    assert text.startswith(f"before\n{BEGIN}\n") and text.endswith(f"{END}\nafter\n")
    assert rows in text and "earlier" not in text
    document.write_text("nothing")
    with pytest.raises(ValueError, match="contains no"):
        write_block(document, campaign)


def test_the_document_has_a_row_for_each_kind() -> None:
    block = DOCUMENT.read_text().partition(BEGIN)[2].partition(END)[0]
    for kind in KINDS.values():
        (row,) = (r for r in block.splitlines() if r.startswith(f"| {kind.title} |"))
        assert int(row.split("|")[2].replace(",", "")) > 0, row
