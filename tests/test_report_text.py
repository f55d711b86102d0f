"""The Markdown and the CSV report."""

import csv
import io
from pathlib import Path

import pytest

from report import csv_out, markdown
from report.results import Run, load_run
from tests import synthetic


@pytest.fixture
def varied(tmp_path: Path) -> Run:
    plan = synthetic.varied_plan()
    lines = synthetic.varied_lines(plan)
    return load_run(synthetic.write_run(tmp_path, plan, lines))


def test_markdown_has_the_verdict_and_a_table_for_each_scenario(varied: Run) -> None:
    text = markdown.render(varied)
    assert text.splitlines()[4].startswith("**Alpha wins ")
    assert text.count("| --- | ---:") == len(varied.scenarios)
    assert text.count("\n## ") == len(varied.scenarios)


def test_markdown_tables_have_equal_rows(varied: Run) -> None:
    rows = [r for r in markdown.render(varied).splitlines() if r.startswith("|")]
    assert {row.count("|") for row in rows} == {6}


def test_markdown_says_statuses_in_words_with_reasons(varied: Run) -> None:
    text = markdown.render(varied)
    for status, reason in synthetic.VARIETY.values():
        assert f"| {status} |" in text
        assert f"{status}: {reason}".replace("_", "\\_") in text


def test_markdown_markup_in_texts_is_harmless(tmp_path: Path) -> None:
    plan = synthetic.plan()
    plan["engines"][0]["title"] = "<script>a|b</script> *x* [y](z)"
    text = markdown.render(load_run(synthetic.write_run(tmp_path, plan)))
    assert "<script>" not in text
    assert "\\<script\\>a\\|b" in text
    assert "\\[y\\]" in text


def test_csv_has_a_row_for_each_line_with_units_in_its_header(varied: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_out.render(varied))))
    assert len(rows) == len(varied.measurements)
    for name in ("loop_ns", "flush_ns", "settle_ns", "disk_bytes", "ops_per_sec"):
        assert name in rows[0]


def test_csv_keeps_every_digit(varied: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_out.render(varied))))
    for row, m in zip(rows, varied.measurements, strict=True):
        assert row["loop_ns"] == ("" if m.loop_ns is None else str(m.loop_ns))
        assert row["status"] == m.status
        assert row["reason"] == m.reason


def test_csv_texts_are_never_formulas(tmp_path: Path) -> None:
    plan = synthetic.plan()
    lines = synthetic.lines(plan)
    lines[0] |= {"status": "error", "reason": '=cmd|" /C calc"!A0,\nnext'}
    run = load_run(synthetic.write_run(tmp_path, plan, lines))
    row = next(iter(csv.DictReader(io.StringIO(csv_out.render(run)))))
    assert row["reason"] == "'" + lines[0]["reason"]
