"""history/RUN.json: written, read back, and refused if damaged."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from report.model import history_entry
from report.model.history_entry import MedianInterval
from report.model.history_folder import entry_of_document, load, read_entry
from report.model.judgement import Verdict
from report.model.run import Measurement
from report.terms.documents import ResultsError, validate
from report.trust.judge import load_run
from report.verdict.count_verdicts import TIMED, timed_count
from report.verdict.new_history_entry import entry_of, timed_measures
from scripts.store.history_store import add
from tests.builders import synthetic_history as past
from tests.builders import synthetic_records, synthetic_run

Document = dict[str, Any]


def ab_document() -> Document:
    cells = [past.entry_cell(past.CELL, 1e5, past.band(0.95), Verdict.REGRESSED)]
    return history_entry.document(past.entry(3, cells, reference="pinned"))


def put(folder: Path, document: Document, name: str = "") -> Path:
    path = folder / f"{name or document['run']}.json"
    path.write_text(json.dumps(document), "utf-8")
    return path


def test_an_entry_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    entries = [*past.history(2), past.history(4, reference="pinned")[3]]
    assert list(load(past.write(tmp_path, entries))) == entries


def test_what_is_written_follows_the_schema() -> None:
    for entry in (*past.history(1), *past.history(1, reference="pinned")):
        written = json.loads(history_entry.text(entry))
        validate(written, "history", "written")
        assert written == history_entry.document(entry)


def test_an_entry_without_verdicts_is_read(tmp_path: Path) -> None:
    document = ab_document()
    del cell(document)["verdict"]
    validate(document, "history", "old")
    entry = read_entry(put(tmp_path, document))
    assert entry.cells[0].verdict is None
    assert history_entry.document(entry) == document


def test_measures_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    zero, some = MedianInterval(0.0, 0.0, 0.0), MedianInterval(2.0, 1.0, 3.0)
    (entry,) = past.history(4, reference="pinned")[3:]
    measured = replace(
        entry.cells[0],
        measures={"barriers": zero, "cpu_ns_per_op": some},
        verdicts={"barriers": "more"},
    )
    entry = replace(entry, cells=(measured,))
    assert load(past.write(tmp_path, [entry])) == (entry,)


def test_an_entry_of_an_earlier_version_is_already_there(tmp_path: Path) -> None:
    """The run has measures that the entry lacks, and is not another run."""
    entry = entry_of(load_run(synthetic_run.write_run(tmp_path / "run")), "v1")
    earlier = replace(entry, cells=tuple(replace(c, measures={}) for c in entry.cells))
    folder = past.write(tmp_path / "history", [earlier])
    assert add(folder, entry) == (folder / f"{entry.run}.json", False)
    assert load(folder) == (earlier,)
    with pytest.raises(ResultsError, match="remove the file"):
        add(folder, replace(entry, seed=7))


def test_jobs_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each waits for the others; what two of them add is there once."""
    entries = past.history(16) * 3
    with ThreadPoolExecutor(len(entries)) as jobs:
        done = list(jobs.map(lambda entry: add(tmp_path / "h", entry), entries))
    assert sum(is_new for _, is_new in done) == 16
    assert list(load(tmp_path / "h")) == entries[:16]
    assert len(list((tmp_path / "h").iterdir())) == 16


def test_no_folder_and_an_empty_one_hold_no_entries(tmp_path: Path) -> None:
    assert load(tmp_path) == load(tmp_path / "absent") == ()


def test_entries_come_in_the_order_of_their_runs(tmp_path: Path) -> None:
    past.write(tmp_path, past.history(30)[::-1])
    runs = [entry.run for entry in load(tmp_path)]
    assert runs == sorted(runs)
    assert len(runs) == 30


def test_a_run_gives_its_rates_and_what_failed(tmp_path: Path) -> None:
    run = load_run(synthetic_run.write_varied(tmp_path))
    entry = entry_of(run, "abc123")
    assert (entry.kind, entry.label, entry.reference) == ("run", "abc123", None)
    assert entry.run == run.plan.run
    assert entry.lines_sha256 == run.lines_sha256
    assert entry.binary("alpha") == "1" * 64
    control = {name for name in run.cells if name.engine == synthetic_run.CONTROL[0]}
    assert {cell.name for cell in entry.cells} == set(run.cells) - control
    assert control
    assert synthetic_run.CONTROL[0] not in entry.engines
    for cell in entry.cells:
        source = run.cells[cell.name]
        assert cell.status == source.status
        assert cell.ratio is None
        if cell.rate is None:
            assert not source.rates
            continue
        assert cell.n == len(source.rates)
        assert (cell.rate.low, cell.rate.high) == (min(source.rates), max(source.rates))
    validate(history_entry.document(entry), "history", "entry")


def test_a_run_gives_processor_time_and_counts_of_its_ok_repetitions(
    tmp_path: Path,
) -> None:
    run = load_run(synthetic_run.write_run(tmp_path))
    entry = entry_of(run)
    assert entry.cells
    for cell in entry.cells:
        records = [m.record for m in run.cells[cell.name].repetitions]
        times = [(r["cpu_user_ns"] + r["cpu_system_ns"]) / r["ops"] for r in records]
        cpu = cell.measures["cpu_ns_per_op"]
        assert (cpu.low, cpu.median, cpu.high) == (
            min(times),
            statistics.median(times),
            max(times),
        )
        for kind in TIMED:
            counts = [timed_count(record, kind) for record in records]
            highest = max(count or 0 for count in counts)
            measured = cell.measures.get(kind.name)
            assert (measured.high if measured else 0) == highest


def test_repetitions_that_did_other_work_have_no_counts() -> None:
    def one(**changes: Any) -> Measurement:
        line = synthetic_records.line(
            dict.fromkeys(("engine", "scenario", "benchmark"), "a"), 1, 1e5
        )
        return Measurement.of(cast("Any", line | {"disk_bytes": 7} | changes))

    assert {"cpu_ns_per_op", "disk_bytes"} <= set(timed_measures([one(), one()]))
    assert set(timed_measures([one(), one(ops=7)])) == {"cpu_ns_per_op"}
    assert set(timed_measures([one(), one(truncated=True)])) == {"cpu_ns_per_op"}
    assert "disk_bytes" not in timed_measures([one(), one(disk_bytes=None)])


def settings_of(tmp_path: Path, name: str, change: Callable[[Document], None]) -> str:
    plan = synthetic_run.plan()
    change(plan)
    run = load_run(synthetic_run.write_run(tmp_path / name, plan))
    return entry_of(run).by_name[past.CELL].settings_sha256


def set_num(plan: Document) -> None:
    flags = plan["scenarios"][0]["flags"]
    flags["alpha"] = {**flags["alpha"], "num": 999}


def set_others_num(plan: Document) -> None:
    flags = plan["scenarios"][0]["flags"]
    flags["gamma"] = {**flags["gamma"], "num": 999}


def fillseq(plan: Document) -> Document:
    benchmarks = plan["engines"][0]["describe"]["benchmarks"]
    benchmark: Document = next(b for b in benchmarks if b["name"] == "fillseq")
    return benchmark


def test_settings_are_the_flags_and_the_benchmark_of_the_cell(tmp_path: Path) -> None:
    same = settings_of(tmp_path, "same", lambda plan: None)
    assert settings_of(tmp_path, "num", set_num) != same
    assert settings_of(tmp_path, "others", set_others_num) == same
    reworded = settings_of(
        tmp_path,
        "reworded",
        lambda plan: fillseq(plan).update(summary="in other words"),
    )
    assert reworded == same
    other_settings = settings_of(
        tmp_path, "other", lambda plan: fillseq(plan).update(prepare="filled")
    )
    assert other_settings != same


def cell(document: Document) -> Document:
    first_cell: Document = document["cells"][0]
    return first_cell


def bands(**changes: object) -> Callable[[Document], None]:
    return lambda document: cell(document)["ops_per_sec"].update(changes)


BAND = ("median", "low", "high")

# A change of a sound entry -> part of the message about it.
DAMAGE: dict[str, tuple[Callable[[Document], object], str]] = {
    "a schema to come": (lambda d: d.update(schema=2), "schema: 2"),
    "no machine": (lambda d: d.pop("machine"), "'machine' is missing"),
    "one key more": (lambda d: d.update(colour="red"), "unknown key 'colour'"),
    "a way out": (lambda d: d.update(run="../../etc"), "run: '../../etc'"),
    "a run folder": (lambda d: d.update(run="run"), "not a valid name"),
    "a kind of its own": (lambda d: d.update(kind="AB"), "kind: 'AB'"),
    "a run with a reference": (lambda d: d.update(kind="run"), "reference"),
    "no reference": (lambda d: d.update(reference=None), "reference"),
    "a fact without an end": (lambda d: d["machine"].update(a="x" * 5000), "machine.a"),
    "a huge seed": (
        lambda d: d.update(seed=10**200),
        "seed: the integer is too large; expected at most 18446744073709551615",
    ),
    "a huge fact without a name": (
        lambda d: d["machine"].update({"": 10**400}),
        "machine.: the integer is too large",
    ),
    "a fact named in two lines": (
        lambda d: d["machine"].update({"a\nb": {}}),
        "machine.a?b: ",
    ),
    "a machine in a machine": (lambda d: d["machine"].update(a={}), "machine.a"),
    "an engine's path": (lambda d: d["engines"].update({"../x": {}}), "engines"),
    "a reference of lists": (
        lambda d: d["reference"].update(engines=[]),
        "reference.engines",
    ),
    "cells in an object": (lambda d: d.update(cells={}), "cells: {} is not a list"),
    "a cell twice": (lambda d: d.update(cells=d["cells"] * 2), "listed twice"),
    "a cell of no engine": (lambda d: cell(d).update(engine="nobody"), "unknown"),
    "a cell's key missing": (lambda d: cell(d).pop("n"), "cells.0: 'n' is missing"),
    "a cell's key too many": (
        lambda d: cell(d).update(p=1),
        "cells.0: unknown key 'p'",
    ),
    "an engine in capitals": (lambda d: cell(d).update(engine="ALPHA"), "engine"),
    "markup": (lambda d: cell(d).update(benchmark="<b>"), "benchmark"),
    "a failed cell's rate": (lambda d: cell(d).update(status="error"), "status error"),
    "an ok cell without": (lambda d: cell(d).update(ops_per_sec=None), "status ok"),
    "a negative rate": (bands(low=-1.0), "-1.0 must be at least 1e-09"),
    "a band upside down": (bands(low=2e5), "expected low <= median"),
    "a median above": (bands(median=2e5), "expected low <= median"),
    "a rate of many digits": (bands(high=10**400), "too large; expected at most"),
    "a ratio to nothing": (
        lambda d: d.update(kind="run", reference=None),
        "ratio without a reference",
    ),
    "a verdict of no A/B run": (
        lambda d: (d.update(kind="run", reference=None), cell(d).update(ratio=None)),
        "verdict in a run that is not an A/B run",
    ),
    "a verdict of its own": (lambda d: cell(d).update(verdict="slow"), "'slow'"),
    "a measure below nothing": (
        lambda d: cell(d).update(measures={"barriers": dict.fromkeys(BAND, -1)}),
        "measures.barriers",
    ),
    "a measure upside down": (
        lambda d: cell(d).update(
            measures={"barriers": {"median": 2, "low": 3, "high": 4}}
        ),
        "measures.barriers: expected low <= median",
    ),
    "a failed cell's measure": (
        lambda d: (
            cell(d).pop("verdict"),
            cell(d).update(status="error", ops_per_sec=None, ratio=None),
            cell(d).update(measures={"barriers": dict.fromkeys(BAND, 1)}),
        ),
        "status error",
    ),
    "a measure's verdict of its own": (
        lambda d: cell(d).update(verdicts={"barriers": "few"}),
        "'few'",
    ),
    "a verdict against its ratio": (
        lambda d: cell(d).update(verdict="improved"),
        "improved, but the ratio is 0.95",
    ),
    "a failed cell's verdict": (
        lambda d: cell(d).update(status="error", ops_per_sec=None, ratio=None),
        "but the status is",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_entry_is_refused_by_name(tmp_path: Path, name: str) -> None:
    change, message = DAMAGE[name]
    document = ab_document()
    change(document)
    path = put(tmp_path, document, "entry")
    with pytest.raises(ResultsError) as caught:
        read_entry(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_long_machine_description_is_read(tmp_path: Path) -> None:
    document = ab_document()
    document["machine"]["mount_options"] = "lowerdir=" + "x" * 3000
    validate(document, "history", "long")
    assert read_entry(put(tmp_path, document)).machine == document["machine"]


def test_a_sound_entry_is_not_refused(tmp_path: Path) -> None:
    assert read_entry(put(tmp_path, ab_document())).kind == "ab"


@pytest.mark.parametrize(
    ("suite", "benchmark"), [("leveldb-1.1", "readrandom"), ("mixgraph", "mixgraph-c")]
)
def test_names_of_suites_and_benchmarks_are_read_back(
    tmp_path: Path, suite: str, benchmark: str
) -> None:
    document = ab_document() | {"suite": suite}
    cell(document)["benchmark"] = benchmark
    entry = read_entry(put(tmp_path, document))
    assert (entry.suite, entry.cells[0].name.benchmark) == (suite, benchmark)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"schema": NaN}',
        b'{"schema": 1, "schema": 1}',
        b"[" * 100_000,
        b'{"schema": 1e999}',
        b'{"schema": "\\ud800"}',
        b"1" * 5000,
    ],
)
def test_our_own_json_is_not_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "20260101-000000-quick.json"
    path.write_bytes(content)
    with pytest.raises(ResultsError, match=r"^.*20260101-000000-quick\.json: "):
        load(tmp_path)


def test_a_cut_off_entry_is_refused(tmp_path: Path) -> None:
    entry = past.history(1)[0]
    content = history_entry.text(entry).encode()
    path = tmp_path / f"{entry.run}.json"
    for length in range(0, len(content) - 2, 97):
        path.write_bytes(content[:length])
        with pytest.raises(ResultsError):
            read_entry(path)


def test_an_entry_under_another_name_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, ab_document(), "20260101-000000-other")
    with pytest.raises(ResultsError, match="holds run"):
        read_entry(path)


def test_a_path_that_is_not_a_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(ResultsError, match="not a regular file"):
        load(tmp_path)
    (tmp_path / "pipe.json").unlink()
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(ResultsError, match="not a regular file"):
        load(tmp_path)
    told = "not a directory; remove it, or choose"
    with pytest.raises(ResultsError, match=told):
        load(put(tmp_path, ab_document()))
    with pytest.raises(ResultsError, match=told):
        add(put(tmp_path, ab_document()), entry_of_document(ab_document(), "x"))


def test_a_byte_order_mark_of_an_editor_is_skipped(tmp_path: Path) -> None:
    (entry,) = past.history(1)
    path = tmp_path / f"{entry.run}.json"
    path.write_bytes(b"\xef\xbb\xbf" + history_entry.text(entry).encode())
    assert load(tmp_path) == (entry,)
    path.write_bytes(history_entry.text(entry).encode("utf-16"))
    with pytest.raises(ResultsError, match="save it as UTF-8"):
        load(tmp_path)
