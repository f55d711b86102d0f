"""An A/B run as terminal lines, Markdown, CSV and JSON."""

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from report.formats import ab_csv, ab_markdown, ab_text
from report.model.ab_plan import Failure
from report.model.judgement import NOT_GATED, Verdict
from report.page import ab_page
from report.terms.text_table import plain
from report.verdict.ab_verdicts import AbResult, judge
from report.verdict.count_verdicts import CountResult
from scripts.cli.verbs import main
from scripts.show.output import Output
from scripts.show.print_lines import print_lines
from tests.builders import ab_rounds, ab_showcase, synthetic_ab


def result(run: Any = None, **changes: Any) -> AbResult:
    return replace(judge(run) if run else ab_showcase.judged(), **changes)


def texts(outcome: AbResult, **options: bool) -> list[str]:
    return [line.text for line in ab_text.lines(outcome, **options)]


def starts(outcome: AbResult) -> list[str]:
    """Return the verdicts of the table, from the top."""
    words = ("▼ regressed", "▲ improved", "× failed", "? inconclusive", "= unchanged")
    lines = (text for text in texts(outcome, show_all=True))
    return [w for line in lines for w in words if line.startswith(w)]


def test_regressions_come_first_with_their_interval() -> None:
    outcome = result()
    table = [t for t in texts(outcome) if t.startswith("▼ regressed")]
    (line,) = (t for t in table if "alpha/baseline/fillrandom" in t)
    cell = next(c for c in outcome.regressed if c.name.engine == "alpha")
    assert cell.judgement is not None
    low, high = cell.judgement.rate_interval or (0, 0)
    assert f"−{-cell.judgement.rate_change * 100:.1f} %" in line
    assert f"[−{-low * 100:.1f}, −{-high * 100:.1f}] %" in line
    order = starts(outcome)
    found_first = ["▼ regressed", "▲ improved", "× failed"]
    rest = [w for w in order if w in found_first]
    assert order[: len(rest)] == sorted(rest, key=found_first.index)


def test_unchanged_and_inconclusive_are_summarised_separately() -> None:
    outcome = result()
    shown = texts(outcome)
    assert not [t for t in shown if t.startswith(("= unchanged", "? inconclusive"))]
    (unsure,) = (t for t in shown if t.startswith("  ? "))
    (same,) = (t for t in shown if t.startswith("  = "))
    assert f"{len(outcome.of(Verdict.INCONCLUSIVE))} inconclusive: a slowdown" in unsure
    assert "could have been missed in gamma/baseline" in unsure
    assert f"{len(outcome.of(Verdict.UNCHANGED))} unchanged: within ±3 %" in same


def test_the_largest_blind_spot_is_named() -> None:
    outcome = result()
    largest = max(
        (
            c
            for c in outcome.of(Verdict.INCONCLUSIVE)
            if c.judgement and c.judgement.smallest_effect
        ),
        key=lambda c: (c.judgement and c.judgement.smallest_effect) or 0,
    )
    (unsure,) = (t for t in texts(outcome) if t.startswith("  ? "))
    assert str(largest.name) in unsure


def test_show_all_lists_every_cell() -> None:
    outcome = result()
    shown = "\n".join(texts(outcome, show_all=True))
    for cell in outcome.cells:
        assert str(cell.name) in shown


def test_quiet_shows_regressions_and_the_verdict() -> None:
    outcome = result(counts=ab_showcase.counts())
    shown = texts(outcome, quiet=True)
    regressed = len(outcome.regressed) + len(outcome.regressed_engines)
    assert len(shown) == regressed + 2 + 1
    assert all(t.startswith(("▼ regressed", "+ more")) for t in shown[:-1])
    assert shown[-1].startswith(f"{len(outcome.regressed)} regressed, ")
    (verdict,) = texts(result(ab_showcase.run()), quiet=True)
    assert verdict.startswith("0 regressed, ")


def test_the_headline_names_the_counts_that_make_the_exit_code() -> None:
    outcome = result(ab_showcase.run(), counts=ab_showcase.counts())
    assert (outcome.regressed, outcome.exit_code) == ((), 1)
    (verdict,) = (t for t in texts(outcome) if t.startswith("0 regressed, "))
    assert verdict.endswith(" · 2 counts of work regressed")
    assert "2 counts of work regressed.**" in ab_markdown.render(outcome)
    assert "<b>2 counts of work regressed.</b>" in ab_page.render(outcome)
    (verdict,) = (t for t in texts(result(ab_showcase.run())) if t.startswith("0 "))
    assert "counts" not in verdict


def test_a_failed_cell_says_why() -> None:
    shown = "\n".join(texts(result()))
    assert "side b: wrong: audit: 3 differ" in shown
    assert "side a: missing: no db_bench_gamma" in shown


def test_the_summary_counts_every_verdict() -> None:
    outcome = result()
    numbers = (
        len(outcome.regressed),
        len(outcome.improved),
        len(outcome.of(Verdict.UNCHANGED)),
    )
    head = "{} regressed, {} improved, {} unchanged".format(*numbers)
    unsure = len(outcome.of(Verdict.INCONCLUSIVE))
    rest = f"{unsure} inconclusive, {len(outcome.failed)} failed"
    assert any(t.startswith(f"{head}, {rest}") for t in texts(outcome))


def test_the_rule_is_that_of_the_run() -> None:
    run = ab_showcase.run()
    run = ab_rounds.planned_as(
        run, rule=replace(run.plan.rule, alpha=0.02, least_shift=0.04)
    )
    (rule,) = (t for t in texts(result(run)) if t.startswith("rule"))
    assert "95 % intervals" in rule and "p ≤ 0.02" in rule and "4 % slower" in rule


def test_changed_counts_are_reported_and_gated_ones_stand_out() -> None:
    outcome = result(counts=ab_showcase.counts())
    lines = ab_text.lines(outcome)
    changed_lines = [line for line in lines if line.style in ("regressed", "improved")]
    [line] = (line.text for line in lines if " instructions " in line.text)
    assert " 12,345,678  13,580,246  +10.00 %  0.2 %" in line
    styles = {line.text.split()[1]: line.style for line in changed_lines}
    assert styles.items() >= {"more": "regressed", "less": "improved"}.items()
    assert any("2 more, 1 less, 1 same, 1 not gated" in line.text for line in lines)


def test_counts_that_failed_and_tools_that_are_absent_are_reported() -> None:
    name, reason = ab_showcase.cell_names()[0], "side b: under strace: audit: 1 is gone"
    failed = CountResult(name, "write_calls", "", 1, 1, 0.0, None, NOT_GATED, reason)
    failed = replace(failed, trouble=True)
    tools = {"strace": "", "valgrind": "valgrind is not installed"}
    run = replace(ab_showcase.run(), tools=tools)
    outcome = result(run, counts=(failed, replace(failed, name="sync_calls")))
    shown = texts(outcome)
    assert shown.count(f"  {name}: {reason}") == 1
    assert shown.count("  not counted: valgrind is not installed") == 1
    assert "under strace: audit" in ab_markdown.render(outcome)
    assert any(
        t.endswith("valgrind is not installed") for t in texts(result(run, counts=()))
    )


def test_an_interrupted_run_has_no_advice_of_its_own() -> None:
    outcome = result(ab_showcase.varied(unfinished=True))
    assert any(text.startswith("next ") for text in texts(outcome))
    shown = texts(outcome, advice=False)
    assert not any(text.startswith("next ") for text in shown)


def test_a_run_without_measurements_says_so() -> None:
    run = ab_showcase.run()
    broken = Failure("a", "missing", "not built")
    cells = tuple(replace(c, screen=(), failure=broken) for c in run.cells)
    outcome = result(replace(run, cells=cells))
    assert outcome.exit_code == 5
    assert any("there is no verdict" in text for text in texts(outcome))


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ({"unfinished": True}, f"resume {ab_showcase.RUN_ID} --a BUILD_A --b BUILD_B"),
        ({}, "the same command with -k 'alpha/baseline/fillrandom'"),
    ],
)
def test_the_next_step_follows_from_the_result(
    change: dict[str, Any], advice: str
) -> None:
    assert advice in ab_text.next_step(result(ab_showcase.varied(**change)))


def test_the_suggested_rounds_are_those_of_the_noisiest_cell() -> None:
    noisy = {"alpha/baseline/fillseq": 0.03, "gamma/batch/fillseqbatch": 0.06}
    outcome = result(ab_showcase.run(sigmas=noisy, sigma=0.002, seed=3))
    assert outcome.of(Verdict.INCONCLUSIVE) and not outcome.regressed
    needed = [
        c.judgement.pairs_needed
        for c in outcome.of(Verdict.INCONCLUSIVE)
        if c.judgement
    ]
    rounds = math.ceil(max(n for n in needed if n is not None) / 2)
    assert f"--screen-rounds {rounds} " in ab_text.next_step(outcome)


@pytest.mark.parametrize("benchmark", ["fillseq", "readrandom"])
def test_a_duet_is_advised_for_noisy_gets(benchmark: str) -> None:
    noisy = {f"alpha/baseline/{benchmark}": 0.04}
    outcome = result(ab_showcase.run(sigmas=noisy, sigma=0.001, seed=3))
    assert [c.name.benchmark for c in outcome.of(Verdict.INCONCLUSIVE)] == [benchmark]
    advises = "--duet" in ab_text.next_step(outcome)
    assert advises == (benchmark == "readrandom")


def test_an_unchanged_result_has_no_next_step() -> None:
    outcome = result(ab_showcase.run(sigma=0.001))
    assert len(outcome.of(Verdict.UNCHANGED)) == len(outcome.cells)
    assert ab_text.next_step(outcome) == ""


def test_ascii_output_is_complete() -> None:
    outcome = result(counts=ab_showcase.counts())
    for text in texts(outcome, show_all=True):
        assert plain(text).isascii()
        assert plain(text).count("?") == text.count("?"), text


def test_recorded_texts_cannot_control_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = ab_showcase.varied()
    outcome = result(ab_rounds.labelled(run, "ne\x1b[2Jxt\x07\n"))
    output = Output(quiet=False, as_json=False, no_report=True, color="never")
    print_lines(ab_text.lines(outcome), output)
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and "\x07" not in shown
    assert "main → ne?[2Jxt" in shown


def test_the_document_has_every_cell_and_agrees_with_the_result() -> None:
    outcome = result(counts=ab_showcase.counts())
    document = json.loads(json.dumps(ab_text.ab_document(outcome), allow_nan=False))
    assert document["exit"] == outcome.exit_code == 1
    assert len(document["cells"]) == len(outcome.cells)
    for entry, cell in zip(document["cells"], outcome.cells, strict=True):
        assert entry["engine"] == cell.name.engine
        if cell.judgement is None:
            assert entry["verdict"] == "failed" and entry["reason"]
            continue
        assert entry["verdict"] == cell.judgement.verdict.value
        assert entry["change"] == pytest.approx(cell.judgement.rate_change)
        ends = cell.judgement.rate_interval
        assert ends and (entry["low"], entry["high"]) == pytest.approx(ends)
    tally = document["summary"]
    assert tally["regressed"] == len(outcome.regressed)
    assert sum(tally.values()) == len(outcome.cells)
    assert [c["verdict"] for c in document["counts"]].count("more") == 2


def test_unmeasured_cells_have_no_change_in_the_document() -> None:
    run = ab_showcase.run()
    cells = (replace(run.cells[0], screen=()), *run.cells[1:])
    entry = ab_text.ab_document(result(replace(run, cells=cells)))["cells"][0]
    assert (entry["change"], entry["low"], entry["p_slower"]) == (None, None, None)
    assert entry["pairs"] == 0 and entry["verdict"] == "inconclusive"


def test_the_csv_has_a_row_for_each_cell_and_each_engine() -> None:
    outcome = result()
    rows = list(csv.DictReader(io.StringIO(ab_csv.render(outcome))))
    assert len(rows) == len(outcome.cells) + len(outcome.engines)
    by_name = {
        tuple(r[k] for k in ("engine", "scenario", "benchmark")): r for r in rows
    }
    row = by_name["alpha", "baseline", "fillrandom"]
    assert row["verdict"] == "regressed" and row["a"] == "main"
    cell = next(c for c in outcome.regressed if c.name.engine == "alpha")
    assert cell.judgement is not None
    assert float(row["rate_change_share"]) == pytest.approx(cell.judgement.rate_change)
    assert by_name["alpha", "", ""]["cells"] == "8"


def test_a_label_is_not_a_formula_in_a_spreadsheet() -> None:
    run = ab_showcase.run()
    text = ab_csv.render(result(ab_rounds.labelled(run, "=1+1")))
    assert ",=1+1," not in text and ",'=1+1," in text


def test_markdown_shows_every_cell_and_escapes_its_texts() -> None:
    run = ab_showcase.varied()
    run = ab_rounds.labelled(run, "<b>|next")
    outcome = result(run, counts=ab_showcase.counts())
    text = ab_markdown.render(outcome)
    assert "<b>" not in text and "\\<b\\>\\|next" in text
    for cell in outcome.cells:
        assert str(cell.name) in text
    assert text.index("## Regressed") < text.index("## Improved")
    assert text.index("## Improved") < text.index("## Failed") < text.index("## Alpha")
    assert "instructions" in text
    for line in text.splitlines():
        if line.startswith("| ▼"):
            assert line.replace("\\|", "").count("|") == 9


@pytest.mark.parametrize(
    ("kind", "start"), [("md", "# new 1.1 against base 1.0"), ("csv", "run,a,b,engine")]
)
def test_report_knows_an_ab_run(tmp_path: Path, kind: str, start: str) -> None:
    synthetic_ab.write_ab_run(tmp_path / synthetic_ab.AB_RUN_ID)
    where = ["--results-dir", str(tmp_path), "--format", kind]
    done = CliRunner().invoke(main, ["report", "@last", *where])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(start)


def test_report_writes_the_page_into_the_folder(tmp_path: Path) -> None:
    folder = synthetic_ab.write_ab_run(tmp_path / synthetic_ab.AB_RUN_ID)
    done = CliRunner().invoke(main, ["report", str(folder)])
    assert done.exit_code == 0, done.output
    page = (folder / "report.html").read_text("utf-8")
    assert "new 1.1 against base 1.0" in page


def test_formats_that_cannot_show_two_builds_are_refused(tmp_path: Path) -> None:
    folder = synthetic_ab.write_ab_run(tmp_path / synthetic_ab.AB_RUN_ID)
    done = CliRunner().invoke(main, ["report", str(folder), "--format", "cells"])
    assert done.exit_code == 2
    assert "html, md, csv" in done.output


def test_a_damaged_ab_run_has_no_report(tmp_path: Path) -> None:
    folder = synthetic_ab.write_ab_run(tmp_path / synthetic_ab.AB_RUN_ID)
    lines = folder / "measurements.jsonl"
    lines.write_text(lines.read_text("utf-8").replace('"side": "b"', '"side": "c"', 1))
    done = CliRunner().invoke(main, ["report", str(folder)])
    assert done.exit_code == 2
    assert "measurements.jsonl:" in done.output
    assert not (folder / "report.html").exists()
