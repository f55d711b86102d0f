"""The reports of a recorded run, byte for byte."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report.formats import cell_documents, csv_format, markdown
from report.model.run import Run
from report.page import report_page
from report.stats.repetition_stats import summarize
from report.trust.judge import load_run
from tests.support.program import refuse_options
from tests.support.short_cells import short_cells_ranked

GOLDEN = Path(__file__).with_name("golden")
RENDERERS: dict[str, Callable[[Run], str]] = {
    "report.html": report_page.render,
    "report.md": markdown.render,
    "report.csv": csv_format.render,
}


@pytest.mark.parametrize("name", RENDERERS)
def test_the_report_of_the_recorded_run_is_the_golden_one(name: str) -> None:
    with short_cells_ranked():
        output = RENDERERS[name](load_run(GOLDEN / "run")).encode()
    golden = (GOLDEN / name).read_bytes()
    # Compared line by line first: the difference of whole pages is unreadable.
    for number, (line, golden_line) in enumerate(
        zip(output.splitlines(), golden.splitlines(), strict=False), 1
    ):
        assert line == golden_line, f"{name}:{number}"
    assert output == golden


def test_the_recorded_run_covers_the_special_cases() -> None:
    """It must contain failed statuses, multiples of the baseline, and a floor."""
    run = load_run(GOLDEN / "run")
    statuses = {cell.status for cell in run.cells.values()}
    assert statuses == {"ok", "unsupported", "excluded"}
    text = (GOLDEN / "report.html").read_text("utf-8")
    for phrase in ("wins", "× baseline", "2011 and now", "keeps no key order"):
        assert phrase in text, phrase


def test_each_planned_cell_has_one_object_with_its_median_and_place() -> None:
    run = load_run(GOLDEN / "run")
    with short_cells_ranked():
        document = json.loads(cell_documents.render(run))
        rows = list(csv.DictReader(io.StringIO(cell_documents.render_csv(run))))
    cells = {(c["engine"], c["scenario"], c["benchmark"]): c for c in document["cells"]}
    assert len(document["cells"]) == len(rows) == len(run.plan.cells)
    charts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name, cell in run.cells.items():
        found = cells[name.engine, name.scenario, name.benchmark]
        summary = summarize(cell.rates)
        assert found["status"] == cell.status
        assert found["median"] == (summary.median if summary else None)
        assert found["repetitions"] == len(cell.rates)
        charts.setdefault((name.scenario, name.benchmark), []).append(found)
    for of in charts.values():
        ranked = [cell for cell in of if cell["rank"]]
        best_first = sorted(ranked, key=lambda cell: -cell["median"])
        assert [cell["rank"] for cell in best_first] == list(range(1, len(ranked) + 1))
        assert {cell["ranked"] for cell in ranked} <= {len(ranked)}
        assert all(cell["verdict"] is None for cell in of if not cell["rank"])
    assert any(cell["verdict"] for cell in cells.values())


def write_golden() -> None:
    """Rewrite the three reports from the recorded run."""
    run = load_run(GOLDEN / "run")
    with short_cells_ranked():
        for name, render in RENDERERS.items():
            (GOLDEN / name).write_bytes(render(run).encode())


if __name__ == "__main__":
    refuse_options(__doc__)
    write_golden()
