"""A history as CSV files, and what Apache Otava reads in them."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from report.exchange import otava
from report.model.plan import CellName
from report.terms.documents import ResultsError
from report.verdict.history_series import series
from scripts.cli.verbs import main
from tests.builders import synthetic_history
from tests.setup import other_programs

OTHER = CellName("beta", "baseline", "readrandom")
CELLS = (synthetic_history.CELL, OTHER)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def write(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.slow
def test_otava_finds_the_step_where_it_is_and_no_other(tmp_path: Path) -> None:
    entries = synthetic_history.history(
        40, CELLS, synthetic_history.step_at(20, 0.2, cell=OTHER)
    )
    write(tmp_path, otava.files(series(entries)))
    done = other_programs.otava(
        *("analyze", "kvmatrix-1", "--config-file", otava.CONFIGURATION),
        *("--since", "2025-01-01", "--output", "json"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    (group,) = json.loads(done.stdout)["kvmatrix-1"]
    assert group["attributes"]["run"] == entries[20].run
    assert group["attributes"]["commit"] == entries[20].label
    (change,) = group["changes"]
    assert change["metric"] == str(OTHER)
    before = [e.by_name[OTHER].rate for e in entries[:20]]
    mean = sum(b.median for b in before if b) / 20
    assert float(change["mean_before"]) == pytest.approx(mean, rel=1e-6)


def test_a_row_is_a_run_with_its_time_and_the_medians() -> None:
    entries = synthetic_history.history(3, CELLS)
    texts = otava.files(series(entries))
    assert set(texts) == {"kvmatrix-1.csv", "otava.yaml"}
    directions = re.findall(r"direction: (\S+)", texts["otava.yaml"])
    assert directions == ["1"] * len(CELLS)  # more is better
    first = rows(texts["kvmatrix-1.csv"])[0]
    assert first["time"] == "2026-01-01 00:00:00 +0000"
    assert first["commit"] == entries[0].label
    assert first["branch"] == "main"
    for cell in CELLS:
        rate = entries[0].by_name[cell].rate
        assert rate is not None
        assert float(first[str(cell)]) == rate.median


def test_a_cell_that_some_runs_lack_has_a_file_of_its_own() -> None:
    entries = synthetic_history.history(4, CELLS)
    entries[2] = synthetic_history.entry(2, entries[2].cells[:1])
    texts = otava.files(series(entries))
    tables = {name: rows(t) for name, t in texts.items() if name.endswith(".csv")}
    assert sorted(map(len, tables.values())) == [3, 4]
    for table in tables.values():
        assert all(value for row in table for value in row.values())


def test_machines_are_not_mixed() -> None:
    cell = synthetic_history.entry_cell(OTHER, 1e5)
    another_machine = {**synthetic_history.MACHINE, "logical_cpus": 64}
    entries = [
        synthetic_history.entry(0, [cell]),
        synthetic_history.entry(1, [cell], machine=another_machine),
    ]
    texts = otava.files(series(entries))
    assert len([name for name in texts if name.endswith(".csv")]) == 2


def test_ratios_to_a_pinned_reference_are_called_so() -> None:
    entries = synthetic_history.history(6, CELLS, reference="old")
    texts = otava.files(series(entries))
    assert f"{OTHER} ratio" in rows(texts["kvmatrix-1.csv"])[0]
    assert 'unit: "ratio"' in texts["otava.yaml"]


def test_a_run_without_a_time_in_its_name_is_refused() -> None:
    cell = synthetic_history.entry_cell(OTHER, 1e5)
    entry = synthetic_history.entry(0, [cell], name="20261340-000000-x")
    with pytest.raises(ResultsError, match="20261340-000000-x: the name of the run"):
        otava.files(series([entry]))


def test_an_empty_history_is_an_empty_configuration() -> None:
    assert otava.files([]) == {"otava.yaml": "tests: {}\n"}


def history(folder: Path, *words: str) -> Result:
    command = ["history", "--history-dir", str(folder), "--format", "otava", *words]
    return CliRunner().invoke(main, command)


def test_the_verb_writes_a_folder_and_names_its_configuration(tmp_path: Path) -> None:
    entries = synthetic_history.history(6, CELLS)
    folder = synthetic_history.write(tmp_path / "history", entries)
    target = tmp_path / "for-otava"
    done = history(folder, "-o", str(target), "-k", "beta/*", "--last", "4")
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(target / "otava.yaml")
    csv_rows = rows((target / "kvmatrix-1.csv").read_text())
    assert [row["run"] for row in csv_rows] == [entry.run for entry in entries[2:]]
    assert str(OTHER) in csv_rows[0]
    assert str(synthetic_history.CELL) not in csv_rows[0]


def test_the_verb_needs_a_folder(tmp_path: Path) -> None:
    entries = synthetic_history.history(2, CELLS)
    folder = synthetic_history.write(tmp_path / "history", entries)
    for words in ((), ("-o", "-")):
        done = history(folder, *words)
        assert done.exit_code == 2
        assert "add -o DIRECTORY" in done.stderr
