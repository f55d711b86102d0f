"""Comparing two runs: the rule, runs that are refused, cells that must be shown."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.formats import compare_text
from report.model.judgement import Verdict
from report.model.run import Run
from report.stats.two_run_decision import Limits
from report.trust.judge import load_run
from report.verdict.run_changes import NotComparable, RatePresence, compare
from report.words.compare_rows import compared_row, note
from tests.builders import synthetic_records, synthetic_run, two_runs
from tests.builders.two_runs import (
    ALPHA,
    BASE,
    BETA,
    NEW,
    STEADY,
    cell,
    compared,
    run,
    scaled,
    unchanged,
)

Document = dict[str, Any]


def refused(base: Run, new: Run) -> list[str]:
    refusal = compare(base, new)
    assert isinstance(refusal, NotComparable)
    return [str(difference) for difference in refusal.differences]


def test_a_table_is_what_the_raw_lines_give_by_hand(tmp_path: Path) -> None:
    """Recomputed from the files without the module under test."""
    rates = {
        BASE: {ALPHA: (185e3, 184e3, 187e3), BETA: (5e4, 5.4e4, 5.2e4)},
        NEW: {ALPHA: (164e3, 162.5e3, 165e3), BETA: (5.3e4, 5.1e4, 5.6e4)},
    }
    sides: dict[str, dict[str, list[float]]] = {}
    for name, rates_of_run in rates.items():
        folder = two_runs.write(tmp_path / name, rates_of_run)
        for text in (folder / "measurements.jsonl").read_text().splitlines():
            line = json.loads(text)
            key = f"{line['engine']}/{line['scenario']}/{line['benchmark']}"
            rate = line["ops"] * 1e9 / (line["loop_ns"] + line["flush_ns"])
            sides.setdefault(name, {}).setdefault(key, []).append(rate)
    expected = {}
    for key in (ALPHA, BETA):
        changes = [
            new / base - 1 for base in sides[BASE][key] for new in sides[NEW][key]
        ]
        # Of 9 differences: the middle one, and with 3 and 3 all of them.
        middle = statistics.median(changes)
        interval = f"[{min(changes) * 100:+.1f}, {max(changes) * 100:+.1f}]"
        change = f"{middle * 100:+.1f} %".replace("-", "−")
        expected[key] = (change, interval.replace("-", "−"))
    compared_runs = compared(load_run(tmp_path / BASE), load_run(tmp_path / NEW))
    table = [line.text for line in compare_text.lines(compared_runs)]
    for key, texts in expected.items():
        (row,) = (line for line in table if f"{key}   " in line)
        for text in texts:
            assert f" {text} " in f"{row} ", row
    slower, _cpu = (line for line in table if line.startswith("▼"))
    assert slower.split()[:5] == ["▼", "regressed", ALPHA, "185k", "164k"]
    assert expected[ALPHA] == ("−11.7 %", "[−13.1, −10.3]")


def machine(value: str) -> Callable[[Document], None]:
    return lambda d: d["machine"].update(id=value)


def flag(name: str, value: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        for flags in document["scenarios"][0]["flags"].values():
            flags[name] = value

    return change


def flags_apart(document: Document) -> Document:
    """Return the plan, with separate flags for each engine."""
    flags = document["scenarios"][0]["flags"]
    document["scenarios"][0]["flags"] = {k: dict(v) for k, v in flags.items()}
    return document


def benchmark(name: str, value: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        for engine in document["engines"]:
            for described in engine["describe"]["benchmarks"]:
                described[name] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (machine("other"), "machine: id: synthetic in base, other in new"),
        (lambda d: d.update(seed=302), "seed: 301 in base, 302 in new"),
        (
            flag("cache_size", 8388608),
            "setting cache_size differs in 8 cells (such as"
            " alpha/baseline/fillrandom): 4,194,304 in base, 8,388,608 in new",
        ),
        (
            flag("write_buffer_size", 1048576),
            "setting write_buffer_size differs in 8 cells (such as"
            " alpha/baseline/fillrandom): not set in base, 1,048,576 in new",
        ),
        (
            benchmark("prepare", "half"),
            "definition prepare differs in 4 cells (such as"
            " alpha/baseline/readrandom): filled in base, half in new",
        ),
    ],
)
def test_differing_conditions_are_refused_with_both_values(
    tmp_path: Path, change: Callable[[Document], None], message: str
) -> None:
    def change_flags(document: Document) -> None:
        change(flags_apart(document))

    base, new = run(tmp_path / BASE, unchanged), run(tmp_path / NEW, change_flags)
    assert message in refused(base, new)


def test_runs_of_different_methods_are_refused(tmp_path: Path) -> None:
    base, new = (run(tmp_path / name, unchanged) for name in (BASE, NEW))
    new = replace(new, plan=replace(new.plan, method=1))
    assert refused(base, new) == [f"method: {base.plan.method} in base, 1 in new"]


def test_paces_and_set_defaults_decide_nothing(tmp_path: Path) -> None:
    def change(document: Document) -> None:
        for name, value in {"rate": 1e3, "sync": False, "reads": -1}.items():
            flag(name, value)(flags_apart(document))

    compared(run(tmp_path / BASE, unchanged), run(tmp_path / NEW, change))


def test_runs_without_a_cell_in_common_are_refused(tmp_path: Path) -> None:
    def only(index: int) -> Callable[[Document], None]:
        return lambda d: d.update(cells=d["cells"][index::2], order=[])

    base, new = run(tmp_path / BASE, only(0)), run(tmp_path / NEW, only(1))
    (message,) = refused(base, new)
    assert message.startswith("cells: only in base: 4 cells (such as alpha/")


def test_a_definition_in_only_one_run_is_accepted(tmp_path: Path) -> None:
    """A run of schema 1 does not say which benchmarks are one call."""

    def older(document: Document) -> None:
        for engine in document["engines"]:
            for described in engine["describe"]["benchmarks"]:
                del described["one_call"], described["finds"]

    changes = compared(run(tmp_path / BASE, older), run(tmp_path / NEW, unchanged))
    assert len(changes.of(Verdict.UNCHANGED)) == 8


def with_line(folder: Path, name: str, change: Document) -> Run:
    """Return the run of a folder with changed lines of a cell; {} removes them."""
    path = folder / "measurements.jsonl"
    lines = []
    for text in path.read_text().splitlines():
        line = json.loads(text)
        if f"{line['engine']}/{line['scenario']}/{line['benchmark']}" != name:
            lines.append(line)
        elif change.keys() == {"status", "reason"}:
            keys = ("engine", "scenario", "benchmark")
            bare = synthetic_records.failure({k: line[k] for k in keys}, **change)
            taken = ("run", "repetition", "order", "seed")
            lines.append({**bare, **{k: line[k] for k in taken}})
        elif change:
            lines.append({**line, **change})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return load_run(folder)


FAILED = {"status": "error", "reason": "signal 11 (SIGSEGV)"}


def test_a_cell_that_fails_in_the_new_run_is_listed_first(tmp_path: Path) -> None:
    base = run(tmp_path / BASE, unchanged)
    folder = two_runs.write(tmp_path / NEW, {ALPHA: scaled(0.8)})
    changes = compared(base, with_line(folder, BETA, FAILED))
    table = [line.text for line in compare_text.lines(changes)]
    first = table[next(i for i, t in enumerate(table) if t.lstrip()[:4] == "cell") + 1]
    assert first.startswith(f"× lost       {BETA}")
    assert "error: signal 11 (SIGSEGV)" in first
    assert cell(changes, BETA).standing is RatePresence.LOST
    assert changes.exit_code("never") == 0
    assert changes.exit_code("regression") == 1  # a slower cell is more severe


def test_a_lost_cell_alone_exits_3_and_a_gained_one_does_not(tmp_path: Path) -> None:
    sound = run(tmp_path / BASE, unchanged)
    broken = with_line(two_runs.write(tmp_path / NEW), BETA, FAILED)
    changes = compared(sound, broken)
    assert [changes.exit_code(f) for f in ("regression", "any", "never")] == [3, 3, 0]
    back = compared(broken, sound)
    assert cell(back, BETA).standing is RatePresence.GAINED
    assert back.exit_code("regression") == 0
    assert f"gained  {BETA}" in "\n".join(c.text for c in compare_text.lines(back))


def test_a_cell_that_the_new_run_did_not_reach_is_lost(tmp_path: Path) -> None:
    base = run(tmp_path / BASE, unchanged)
    changes = compared(base, with_line(two_runs.write(tmp_path / NEW), BETA, {}))
    assert cell(changes, BETA).standing is RatePresence.LOST
    assert "not measured" in cell(changes, BETA).reason


def test_different_answers_to_the_same_work_are_not_compared(tmp_path: Path) -> None:
    base = run(tmp_path / BASE, unchanged)
    folder = two_runs.write(tmp_path / NEW)
    for engine in ("alpha", "beta-tree"):
        name = f"{engine}/baseline/readrandom"
        new = with_line(folder, name, {"digest": "fedcba9876543210"})
    changes = compared(base, new)
    disputed = cell(changes, BETA)
    assert disputed.standing is RatePresence.DISPUTED and disputed.judgement is None
    assert "0123456789abcdef and fedcba9876543210" in disputed.reason
    assert changes.exit_code("regression") == 3


def test_an_unverified_answer_is_not_a_dispute(tmp_path: Path) -> None:
    """An engine that stores nothing has no answer."""

    def storeless(document: Document) -> None:
        document["engines"][1]["describe"]["stores"] = False
        document["engines"][1]["role"] = "floor"

    runs = []
    for name, digest in ((BASE, "0" * 16), (NEW, "f" * 16)):
        document = two_runs.plan(name)
        storeless(document)
        folder = two_runs.write(tmp_path / name, {}, document)
        for entry in (c for c in document["cells"] if c["engine"] == "beta-tree"):
            cell_name = f"beta-tree/{entry['scenario']}/{entry['benchmark']}"
            copy = with_line(folder, cell_name, {"verified": False, "digest": digest})
        runs.append(copy)
    assert cell(compared(runs[0], runs[1]), BETA).standing is RatePresence.RATED


def test_cells_of_one_run_alone_are_listed(tmp_path: Path) -> None:
    def fewer(document: Document) -> None:
        document["cells"] = document["cells"][:-1]
        document["order"] = []

    whole, part = run(tmp_path / BASE, unchanged), run(tmp_path / NEW, fewer)
    gone = str(list(whole.cells)[-1])
    for pair, word in (((whole, part), "missing"), ((part, whole), "only in new")):
        changes = compared(*pair)
        table = "\n".join(line.text for line in compare_text.lines(changes))
        assert re.search(f"{word} +{gone}", table)
        assert changes.exit_code("regression") == (3 if word == "missing" else 0)


def test_a_cell_of_one_run_alone_says_how_it_failed(tmp_path: Path) -> None:
    def fewer(document: Document) -> None:
        document["cells"] = [
            c for c in document["cells"] if "/".join(c.values()) != BETA
        ]

    broken = with_line(two_runs.write(tmp_path / BASE), BETA, FAILED)
    compared_cell = cell(compared(broken, run(tmp_path / NEW, fewer)), BETA)
    row = compared_row(compared_cell, Limits())
    assert row.outcome == RatePresence.ONLY_BASE
    assert row.note == "error: signal 11 (SIGSEGV)"


def test_the_unseen_change_is_half_of_a_sufficient_interval(tmp_path: Path) -> None:
    rates = {ALPHA: scaled(1, 0.1)}
    base, new = (run(tmp_path / name, unchanged, rates) for name in (BASE, NEW))
    compared_cell = cell(compared(base, new), ALPHA)
    assert compared_cell.verdict is Verdict.INCONCLUSIVE
    unseen = compared_row(compared_cell, Limits()).unseen
    assert unseen is not None and unseen > 0.1
    assert compared_row(compared_cell, Limits(least_confidence=0.95)).unseen is None


@pytest.mark.parametrize(
    ("base", "new", "medians"),
    [
        ((100.0, 101.0, 130.0), (99.0, 102.0, 103.0), "+1.0 %"),
        ((286.0, 287.0, 340.0), (230.0, 258.0, 284.0), "−10.1 %"),
    ],
)
def test_a_change_against_the_medians_is_reported(
    tmp_path: Path, base: Sequence[float], new: Sequence[float], medians: str
) -> None:
    """The median over all pairs differs from the difference of medians."""
    rates = [{ALPHA: [1e3 * rate for rate in side]} for side in (base, new)]
    older = run(tmp_path / BASE, unchanged, rates[0])
    newer = run(tmp_path / NEW, unchanged, rates[1])
    remark = "; the change is the median over all pairs"
    assert f"the medians differ by {medians}{remark}" in note(
        cell(compared(older, newer), ALPHA)
    )
    assert remark not in note(cell(compared(older, older), ALPHA))


def test_a_missing_engine_is_lost_but_does_not_refuse(tmp_path: Path) -> None:
    """Without its executable its flags are unknown."""

    def missing(document: Document) -> None:
        engine = flags_apart(document)["engines"][1]
        engine |= {"describe": None, "missing": "not built", "binary_sha256": ""}
        del document["scenarios"][0]["flags"]["beta-tree"]["compression"]

    base = run(tmp_path / BASE, unchanged)
    document = two_runs.plan(NEW)
    missing(document)
    alpha = [c for c in two_runs.lines(document, {}) if c["engine"] == "alpha"]
    new = load_run(synthetic_run.write_run(tmp_path / NEW, document, alpha))
    changes = compared(base, new)
    assert len(changes.standing(RatePresence.LOST)) == 4


def test_nothing_rated_in_both_exits_5(tmp_path: Path) -> None:
    base = run(tmp_path / BASE, unchanged)
    document = two_runs.plan(NEW)
    empty = load_run(synthetic_run.write_run(tmp_path / NEW, document, []))
    changes = compared(base, empty)
    assert len(changes.lost) == 8
    assert [changes.exit_code(f) for f in ("regression", "never")] == [5, 5]


def test_a_gate_does_not_pass_single_repetitions(tmp_path: Path) -> None:
    runs = []
    for name in (BASE, NEW):
        document = two_runs.plan(name, repetitions=1)
        runs.append(load_run(two_runs.write(tmp_path / name, {}, document)))
    changes = compared(runs[0], runs[1])
    assert len(changes.of(Verdict.INCONCLUSIVE)) == 8
    assert [changes.exit_code(f) for f in ("regression", "never")] == [5, 0]


def test_the_control_of_either_run_gives_the_noise(tmp_path: Path) -> None:
    def twice(folder: Path, apart: float) -> Run:
        document = synthetic_run.plan_with_control()
        document["run"] = folder.name
        lines = []
        for line in synthetic_run.lines(document):
            is_control = line["engine"] == synthetic_run.CONTROL[0]
            slower = 1 + apart * is_control
            record = synthetic_records.retimed(line, round(line["loop_ns"] * slower))
            lines.append({**record, "run": folder.name})
        return load_run(synthetic_run.write_run(folder, document, lines))

    quiet, loud = twice(tmp_path / BASE, 0.0), twice(tmp_path / NEW, 0.2)
    noise = cell(compared(quiet, quiet), ALPHA).noise
    assert noise is not None and 0.02 < noise < 0.06
    assert (cell(compared(quiet, loud), ALPHA).noise or 0) > 0.2
    assert (cell(compared(loud, quiet), ALPHA).noise or 0) > 0.2


def test_q_is_of_benjamini_and_hochberg(tmp_path: Path) -> None:
    """By hand: 8 cells, two of them as far apart as 3 and 3 can be (p = 0.1)."""
    base = run(tmp_path / BASE, unchanged)
    slow = {ALPHA: scaled(0.8), BETA: scaled(1.3)}
    changes = compared(base, run(tmp_path / NEW, unchanged, slow))
    assert cell(changes, ALPHA).q == pytest.approx(0.1 * 8 / 2)
    assert cell(changes, BETA).q == pytest.approx(0.1 * 8 / 2)
    assert max(c.q or 0 for c in changes.cells) == 1.0


def test_disturbed_repetitions_are_counted_next_to_the_change(tmp_path: Path) -> None:
    base = run(tmp_path / BASE, unchanged)
    folder = two_runs.write(tmp_path / NEW)
    marked = synthetic_run.disturbed({}, "steal 3.1 %")
    changes = compared(base, with_line(folder, ALPHA, marked))
    assert "disturbed: 0 in base, 3 in new" in note(cell(changes, ALPHA))


def test_hidden_rows_are_counted_and_shown_on_request(tmp_path: Path) -> None:
    base, new = (run(tmp_path / name, unchanged) for name in (BASE, NEW))
    changes = compared(base, new)
    short = "\n".join(line.text for line in compare_text.lines(changes))
    assert "8 unchanged (--all shows them)" in short
    assert ALPHA not in short
    table = [line.text for line in compare_text.lines(changes, show_all=True)]
    assert sum(line.startswith("= unchanged") for line in table) == 2 * 8
    assert "0 regressed, 0 improved, 8 unchanged, 0 inconclusive" in table[-1]
    assert statistics.median(STEADY) == 100_000
