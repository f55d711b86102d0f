"""Runs of many shards, read by several processes, and judged as they are read."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

from report.model import run_folder
from report.page import report_page
from report.trust.judge import load_run
from report.verdict.comparison import compare
from tests.fleet.large_fleet import write_large_fleet
from tests.fleet.many_machines import content
from tests.support.command_line import call
from tests.support.resealed import edit_lines

pytestmark = pytest.mark.slow

MACHINES = 9  # more than one process reads


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    write_large_fleet(folder, MACHINES, 100)
    return folder


def merged(folders: list[Path], results: Path) -> Path:
    words = ["merge", *map(str, folders), "--results-dir", str(results), "--no-report"]
    done = call(words)
    assert done.returncode in (0, 3), done.stderr
    (run,) = results.iterdir()
    return run


@pytest.fixture(scope="module")
def run(shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return merged([shards], tmp_path_factory.mktemp("merged"))


def test_processes_read_what_one_would(shards: Path, run: Path, tmp_path: Path) -> None:
    folders = sorted(shards.iterdir())
    first = merged(folders[:4], tmp_path / "first")
    second = merged([*folders[4:7], first], tmp_path / "second")
    both = merged([second, *folders[7:]], tmp_path / "both")
    assert content(both) == content(run)
    assert not load_run(run).is_unfinished


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_folder, "LARGE_LINES_BYTES", 1)


@pytest.mark.usefixtures("large")
def test_a_large_run_has_the_verdicts_of_any_other(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = load_run(run)
    assert judged.is_large
    assert all(m.record["timeline"] is None for m in judged.measurements)
    monkeypatch.undo()
    usual = load_run(run)
    assert not usual.is_large
    charts = [[c.accepted for c in compare(r).charts] for r in (judged, usual)]
    assert charts[0] == charts[1]
    page = html.unescape(report_page.render(judged))
    assert "which is too large to be in this file, as are rates over time" in page
    assert len(page) < len(report_page.render(usual)) / 2


@pytest.mark.usefixtures("large")
def test_a_line_of_a_large_run_is_judged_with_its_timeline(
    run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / run.name
    folder.mkdir()
    for name, text in content(run).items():
        (folder / name).write_bytes(text)

    def shorten(lines: list[dict[str, object]]) -> None:
        line = next(line for line in lines if line["timeline"])
        timeline = line["timeline"]
        assert isinstance(timeline, list)
        line["timeline"] = timeline[:-1]

    edit_lines(folder / "measurements.jsonl", shorten)
    (wrong,) = (m for m in load_run(folder).measurements if m.status == "wrong")
    assert "timeline" in wrong.reason
    assert json.loads((folder / "run.json").read_text())["machines"]
