"""The page of an A/B run: texts, drawings, escaping, and the same bytes each time."""

import json
import math
import os
import re
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.model.ab_plan import Failure
from report.model.ab_run import Repetition, Round
from report.model.judgement import Verdict
from report.page import ab_page, frame, raw_data
from report.terms import numbers
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import AbResult, judge
from tests.builders import ab_rounds, ab_showcase, synthetic_ab
from tests.places import ROOT
from tests.support.html_tree import Element, tree

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"{{7*7}}"


def result(run: Any = None) -> AbResult:
    return judge(run) if run else ab_showcase.judged()


def page(outcome: AbResult | None = None) -> Element:
    return tree(ab_page.render(outcome or result()))


def rows(root: Element) -> dict[str, Element]:
    """Return the rows of the forest plot by the anchor of their cell."""
    rows_by_anchor = {}
    for row in root.at("forest").all("tr"):
        for link in row.all("th")[0].all("a") if row.all("th") else []:
            rows_by_anchor[link.attrs["href"].removeprefix("#")] = row
    return rows_by_anchor


def word(row: Element) -> str:
    (verdict, *_) = row.all("span", "vd")
    return verdict.text.split(" ", 1)[-1]


def test_the_verdict_comes_first_in_numbers() -> None:
    outcome = result()
    lede = page(outcome).all("p", "lede")[0].text
    match = re.match(
        r"(\d+) regressed, (\d+) improved, (\d+) unchanged, (\d+) inconclusive,"
        r" (\d+) failed\.",
        lede,
    )
    assert match
    lists = (
        outcome.regressed,
        outcome.improved,
        outcome.of(Verdict.UNCHANGED),
        outcome.of(Verdict.INCONCLUSIVE),
    )
    numbers = [len(cells) for cells in (*lists, outcome.failed)]
    assert [int(n) for n in match.groups()] == numbers
    assert all(numbers), "the run must have every verdict"


def test_every_cell_has_a_row_with_the_word_of_its_verdict() -> None:
    outcome = result()
    shown = rows(page(outcome))
    assert len(shown) == len(outcome.cells)
    for cell in outcome.cells:
        row = shown["c-" + str(cell.name).replace("/", "-")]
        expected = cell.judgement.verdict.value if cell.judgement else "failed"
        assert word(row) == expected, cell.name


def test_rows_with_findings_come_first() -> None:
    order = [word(row) for row in rows(page()).values()]
    rank = {"regressed": 0, "improved": 1, "failed": 2}
    ranks = [rank.get(verdict, 3) for verdict in order]
    assert ranks == sorted(ranks)


def test_engines_as_wholes_are_the_first_rows() -> None:
    outcome = result()
    bodies = page(outcome).at("forest").all("tbody")
    assert bodies[0].all("th")[0].text.startswith("Whole engines")
    names = [row.all("th")[0].text for row in bodies[0].all("tr")[2:]]
    assert len(names) == len(outcome.engines) == 3
    assert names[0].startswith("Alpha")


def test_inconclusive_has_its_own_look() -> None:
    root = page()
    looks: dict[str, set[tuple[Any, ...]]] = {}
    for row in rows(root).values():
        for drawing in row.all("svg", "fr"):
            points = [u.attrs["href"] for u in drawing.all("use", "pt")]
            verdict = row.all("span", "vd")[0]
            look = (tuple(verdict.classes), verdict.text.split()[0], *points)
            if points:
                looks.setdefault(word(row), set()).add(look)
    assert set(looks) == {"regressed", "improved", "unchanged", "inconclusive"}
    for signs in zip(*(next(iter(v)) for v in looks.values()), strict=True):
        assert len(set(signs)) == len(looks), signs
    style = (frame.TEMPLATE_DIR / ab_page.STYLE).read_text("utf-8")
    assert ".inconclusive .wh { stroke-dasharray" in style
    assert ".unchanged .wh" not in style


def test_a_row_shows_the_figures_of_its_judgement() -> None:
    row = rows(page())["c-alpha-baseline-fillrandom"]
    cell = next(c for c in result().cells if str(c.name).endswith("ne/fillrandom"))
    assert cell.judgement and cell.judgement.verdict is Verdict.REGRESSED
    text = row.text.replace("\u00a0", " ")
    low, high = cell.judgement.rate_interval or (0, 0)
    assert f"−{-cell.judgement.rate_change * 100:.1f} %" in text
    assert f"[−{-low * 100:.1f}, −{-high * 100:.1f}] %" in text
    assert "30 confirm" in text


def test_a_change_off_the_axis_is_an_arrow_with_its_number() -> None:
    shown = rows(page())
    far = shown["c-gamma-sync-fillseqsync"]
    (arrow,) = far.all("use", "far")
    assert arrow.attrs["href"] == "#al" and arrow.attrs["x"] == "0%"
    assert far.all("text", "fx")[0].text == "−79.8 %"
    assert not far.all("use", "pt")
    arrows = [key for key, row in shown.items() if row.all("use", "far")]
    assert arrows == ["c-gamma-sync-fillseqsync"]


def test_a_failed_cell_has_its_side_status_and_reason_and_no_drawing() -> None:
    row = rows(page())["c-beta-tree-sync-fillrandsync"]
    assert "side b: wrong: audit: 3 differ" in row.text
    assert not row.all("svg", "fr")


def test_a_cell_without_a_round_shows_no_change() -> None:
    run = ab_showcase.run()
    cells = (replace(run.cells[0], screen=()), *run.cells[1:])
    outcome = result(replace(run, cells=cells, unfinished=True))
    root = page(outcome)
    row = rows(root)["c-" + str(run.cells[0].name).replace("/", "-")]
    assert "0.0 %" not in row.text and not row.all("svg", "fr")
    assert "no complete round was measured" in row.text
    assert "unfinished: repetitions are missing" in root.text


def test_every_repetition_is_a_mark_in_the_order_of_measuring() -> None:
    run = ab_showcase.varied()
    panel = page().at("c-alpha-baseline-fillrandom")
    marks = panel.all("use", "run")
    cell = next(c for c in run.cells if str(c.name) == "alpha/baseline/fillrandom")
    every = [
        r for round_ in (*cell.screen, *cell.confirm) for r in (*round_.a, *round_.b)
    ]
    every.sort(key=lambda r: r.order)
    sides = ["a" if "sa" in mark.classes else "b" for mark in marks]
    assert sides == [r.side for r in every]
    places = [float(mark.attrs["x"].rstrip("%")) for mark in marks]
    assert places == sorted(places) and len(set(places)) == len(places)
    shapes = {(side, m.attrs["href"]) for side, m in zip(sides, marks, strict=True)}
    assert shapes == {("a", "#m0"), ("b", "#m3")}
    assert "1.6" not in panel.all("line", "div")[0].text
    stages = [text.text for text in panel.all("span", "sn")]
    assert stages == ["screen", "confirm"]


def test_a_slower_repetition_lies_lower() -> None:
    panel = page().at("c-alpha-baseline-fillrandom")
    marks = panel.all("use", "run")
    down = {"sa": [0.0], "sb": [0.0]}
    for mark in marks:
        down[mark.classes[1]].append(float(mark.attrs["y"]))
    assert max(down["sa"]) < max(down["sb"]), "b is slower"


def test_every_repetition_is_in_the_table_under_its_drawing() -> None:
    run, root = ab_showcase.varied(), page()
    for cell in run.cells:
        if cell.failure:
            continue
        panel = root.at("c-" + str(cell.name).replace("/", "-"))
        every = [
            r
            for round_ in (*cell.screen, *cell.confirm)
            for r in (*round_.a, *round_.b)
        ]
        every.sort(key=lambda r: r.order)
        labels = [f"{r.side} {numbers.rounded(1e9 / r.ns_per_op)}" for r in every]
        cells = panel.all("table", "made")[0].all("td")
        assert [c.text.removesuffix(" disturbed") for c in cells] == labels
        assert len(panel.all("use", "run")) == len(labels) > 0


def test_a_disturbed_repetition_is_marked_and_counted() -> None:
    root = page()
    marked = [m for m in root.all("use", "run") if "dis" in m.classes]
    assert len(marked) == 1
    assert "disturbed: steal 3.1 %" in marked[0].text.replace("\u00a0", " ")
    assert "1 disturbed repetition, none dropped" in root.text


def test_what_differs_between_the_builds_is_marked() -> None:
    root = page()
    table = root.at("builds").all("table", "pairs")[0]
    differing = {r.all("th")[0].text for r in table.all("tr") if "differs" in r.classes}
    assert differing == {"version differs", "checksum of the executable differs"}
    assert len(table.all("tr")) > 8


def test_one_build_on_both_sides_is_reported() -> None:
    run = ab_showcase.run()
    notice = "both sides have the same executables"
    assert notice not in page(result(run)).text
    assert notice in page(result(ab_rounds.planned_as(run, b=run.plan.a))).text


def test_a_build_that_differs_from_itself_warns() -> None:
    run = ab_rounds.planned_as(ab_showcase.varied(), same_build=True)
    text = page(result(run)).text
    assert "main against itself" in text
    assert "The build differs from itself" in text


def test_counts_are_work_and_the_changed_ones_are_open() -> None:
    outcome = replace(result(), counts=ab_showcase.counts())
    section = page(outcome).at("counts")
    assert "Work, not time" in section.text
    closed = section.all("details")[0]
    (first, *_) = section.all("table")
    assert [r.all("span", "vd")[0].text for r in first.all("tr")[1:]] == [
        "+ more",
        "+ more",
        "− less",
    ]
    assert "varies by 12 %" in closed.text.replace("\u00a0", " ")
    assert "work was not counted" not in page(outcome).text


def test_without_counts_the_page_says_so() -> None:
    root = page(replace(result(), counts=()))
    assert not [e for e in root.every() if e.attrs.get("id") == "counts"]
    assert "work was not counted" in root.text


def test_a_run_without_measurements_does_not_pass() -> None:
    run = ab_showcase.run()
    broken = Failure("a", "missing", "not built")
    cells = tuple(replace(c, screen=(), failure=broken) for c in run.cells)
    text = page(result(replace(run, cells=cells))).text
    assert "there is no verdict" in text
    assert f"{len(cells)} failed" in text


def test_contents_of_files_are_shown_as_text() -> None:
    run = ab_showcase.varied()
    cell = replace(run.cells[0], screen=(), failure=Failure("b", "error", HOSTILE))
    run = ab_rounds.labelled(run, HOSTILE)
    run = ab_rounds.planned_as(run, a=replace(run.plan.a, command=HOSTILE))
    run = replace(
        run,
        lines=({"reason": HOSTILE},),
        cells=(cell, *run.cells[1:]),
    )
    text = ab_page.render(result(run))
    root = tree(text)
    assert not root.all("img")
    assert len(root.all("script")) == 2
    assert "{{7*7}}" in text and "alert(1)" in root.all("h1")[0].text


def test_only_the_script_of_the_page_may_run() -> None:
    text = ab_page.render(result())
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(script) == 1
    assert frame.content_hash(script[0]) in text
    assert "default-src 'none'" in text
    assert not re.search(r"(src|href)=\"?(https?:)?//", text)


def test_the_lines_in_the_page_are_those_of_the_file(tmp_path: Path) -> None:
    folder = synthetic_ab.write_ab_run(tmp_path, counts=())
    run = load_ab_run(folder)
    raw_json = raw_data.script_json(ab_page._raw(run) or {})
    assert raw_json in ab_page.render(result(run))
    assert raw_data.unpacked(ab_page._raw(run) or {}) == [dict(m) for m in run.lines]


def test_lines_that_are_too_many_stay_in_their_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ab_page, "_LARGEST_RAW", 10)
    root = page()
    assert not [e for e in root.every() if e.attrs.get("id") == "raw"]
    assert "too large to be in this file" in root.text


def test_a_whole_run_from_its_files_has_a_page(tmp_path: Path) -> None:
    slower = {"alpha/baseline/fillseq": 0.1}
    folder = synthetic_ab.write_ab_run(
        tmp_path, effects=slower, missing={"beta-tree": ("b", "not built")}
    )
    outcome = judge(load_ab_run(folder))
    root = page(outcome)
    assert word(rows(root)["c-alpha-baseline-fillseq"]) == "regressed"
    assert "missing: not built" in root.at("builds").text


def test_its_figures_follow_from_the_raw_lines(tmp_path: Path) -> None:
    name = "alpha/baseline/fillseq"
    folder = synthetic_ab.write_ab_run(tmp_path, effects={name: 0.1}, sigma=0.02)
    rounds: dict[int, dict[str, list[float]]] = {}
    for text in (folder / "measurements.jsonl").read_text("utf-8").splitlines():
        line = json.loads(text)
        of = "/".join(line[key] for key in ("engine", "scenario", "benchmark"))
        if of == name and line["ab"]["stage"] == "confirm":
            ns = (line["loop_ns"] + line["flush_ns"]) / line["ops"]
            sides = rounds.setdefault(line["ab"]["round"], {"a": [], "b": []})
            sides[line["ab"]["side"]].append(ns)
    assert len(rounds) == 15
    ratios = [b / a for s in rounds.values() for a in s["a"] for b in s["b"]]
    logs = sorted(math.log(ratio) for ratio in ratios)
    middle = statistics.median(logs)
    rates = [
        statistics.median(1e9 / ns for s in rounds.values() for ns in s[side])
        for side in ("a", "b")
    ]
    row = rows(page(judge(load_ab_run(folder))))["c-alpha-baseline-fillseq"]
    cells = [cell.text.replace("\u00a0", " ") for cell in row.all("td")]
    assert cells[2].startswith(f"−{(1 - math.exp(-middle)) * 100:.1f} %")
    assert cells[4] == f"{rates[0] / 1e3:.0f}k → {rates[1] / 1e3:.0f}k"
    assert cells[5] == "30 confirm"


@pytest.mark.slow
def test_the_page_is_reproducible(tmp_path: Path) -> None:
    program = (
        "import sys; from report.page import ab_page;"
        " from report.verdict.ab_verdicts import judge;"
        " from tests.builders import ab_showcase;"
        " sys.stdout.buffer.write(ab_page.render(judge(ab_showcase.varied())).encode())"
    )
    outputs = set()
    for settings in (
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"},
    ):
        env = {**os.environ, **settings, "PYTHONPATH": "."}
        command = [sys.executable, "-c", program]
        outputs.add(subprocess.check_output(command, cwd=ROOT, env=env))
    assert len(outputs) == 1


def test_the_page_of_sixty_cells_stays_under_two_megabytes() -> None:
    run = ab_showcase.run(effects={str(n): 0.2 for n in ab_showcase.cell_names()[:8]})
    cells = (run.cells * 3)[:60]
    text = ab_page.render(result(replace(run, cells=cells)))
    assert len(text.encode()) + ab_page._LARGEST_RAW < 2_000_000


def test_what_disturbed_a_repetition_is_listed_under_its_cell() -> None:
    panel = page().at("c-alpha-baseline-fillseq")
    (mark,) = panel.all("ul", "marks")[0].all("li")
    assert mark.text.replace("\u00a0", " ") == "screen 1, a: steal 3.1 %"
    assert not page().at("c-alpha-baseline-fillrandom").all("ul", "marks")


def test_a_setting_that_differs_between_versions_is_a_difference() -> None:
    run = ab_showcase.run()
    cell = run.cells[0]

    def set_to(repetition: Repetition) -> Repetition:
        size = "4096" if repetition.side == "a" else "16384"
        settings = {"block_size": size, "cache_size": "8"}
        return replace(repetition, record={"settings": settings})

    rounds = tuple(
        Round(
            round_.number,
            (set_to(round_.a[0]), round_.a[1]),
            (set_to(round_.b[0]), round_.b[1]),
        )
        for round_ in cell.screen
    )
    run = replace(run, cells=(replace(cell, screen=rounds), *run.cells[1:]))
    table = page(result(run)).at("builds").all("table", "pairs")[0]
    (row,) = (r for r in table.all("tr") if "block_size" in r.text)
    assert row.text == "block_size, as read back in Baseline differs 4096 16384"
    assert "cache_size" not in table.text
