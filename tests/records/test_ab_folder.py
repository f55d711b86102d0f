"""Reading A/B runs: complete ones are accepted, all others refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report.model.ab_plan import Failure
from report.model.plan import CellName
from report.terms.documents import ResultsError
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge, suspects
from tests.builders import synthetic_run
from tests.builders.honest_records import pass_times
from tests.builders.synthetic_ab import (
    AB_RUN_ID,
    ab_lines,
    ab_plan,
    count_line,
    write_ab_run,
    write_documents,
)

ONE = "alpha/baseline/fillrandom"
Document = dict[str, Any]
Lines = list[Document]


def refusal(folder: Path) -> str:
    with pytest.raises(ResultsError) as caught:
        load_ab_run(folder)
    return str(caught.value)


def test_a_run_comes_back_as_it_was_written(tmp_path: Path) -> None:
    run = load_ab_run(write_ab_run(tmp_path, effects={ONE: 0.1}))
    cell = run.cell(CellName(*ONE.split("/")))
    assert (len(cell.screen), len(cell.confirm)) == (4, 15)
    first = cell.screen[0]
    assert sorted(r.slot for r in (*first.a, *first.b)) == [0, 1, 2, 3]
    assert {r.side for r in first.b} == {"b"}
    line = first.b[0].record
    elapsed = line["loop_ns"] + line["flush_ns"]
    assert first.b[0].ns_per_op == elapsed / line["ops"]
    assert (run.a.label, run.b.label) == ("base 1.0", "new 1.1")
    assert not run.unfinished and not run.torn
    assert len(run.lines) == 4 * (4 * 6 + 15)


def test_a_slowdown_is_suspected_confirmed_and_judged(tmp_path: Path) -> None:
    run = load_ab_run(write_ab_run(tmp_path, effects={ONE: 0.1}))
    assert [str(name) for name in suspects(run).slower] == [ONE]
    result = judge(run)
    assert [str(cell.name) for cell in result.regressed] == [ONE]
    assert result.exit_code == 1


def test_a_suspect_without_its_confirm_rounds_leaves_a_run_unfinished(
    tmp_path: Path,
) -> None:
    run = load_ab_run(write_ab_run(tmp_path, effects={ONE: 0.1}, confirm=()))
    assert run.unfinished


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    write_ab_run(tmp_path, sigma=0.001)
    file = tmp_path / "measurements.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    run = load_ab_run(tmp_path)
    assert run.torn and run.unfinished
    assert min(len(cell.screen) for cell in run.cells) == 3


def test_a_failed_side_ends_its_cell_and_no_other(tmp_path: Path) -> None:
    failures = {ONE: ("b", "wrong", "audit: 3 of 1000 entries differ")}
    run = load_ab_run(write_ab_run(tmp_path, sigma=0.001, failures=failures))
    failed = [cell for cell in run.cells if cell.failure]
    assert [str(cell.name) for cell in failed] == [ONE]
    failure = Failure("b", "wrong", "audit: 3 of 1000 entries differ")
    assert failed[0].failure == failure
    assert not failed[0].screen
    assert not run.unfinished
    assert judge(run).exit_code == 3


@pytest.mark.parametrize("side", ["a", "b"])
def test_an_engine_missing_on_one_side_fails_its_cells(
    tmp_path: Path, side: str
) -> None:
    missing = {"alpha": (side, "not built")}
    run = load_ab_run(write_ab_run(tmp_path, sigma=0.001, missing=missing))
    failures = {cell.failure for cell in run.cells if cell.name.engine == "alpha"}
    assert failures == {Failure(side, "missing", "not built")}
    assert not run.unfinished


COUNT = count_line(ONE)


def test_a_run_is_unfinished_until_its_counting_has_ended(tmp_path: Path) -> None:
    write_ab_run(tmp_path, sigma=0.001, counts=[COUNT])
    run = load_ab_run(tmp_path)
    assert (run.unfinished, len(run.counts)) == (False, 1)
    assert run.tools == {"strace": "", "valgrind": ""}
    file = tmp_path / "counts.jsonl"
    whole = file.read_bytes()
    for part in (whole[:-9], whole.splitlines(keepends=True)[0], b""):
        file.write_bytes(part)
        run = load_ab_run(tmp_path)
        assert run.unfinished and judge(run).exit_code == 3
    file.unlink()
    assert load_ab_run(tmp_path).unfinished


def test_counts_with_a_wrong_final_line_are_refused(tmp_path: Path) -> None:
    write_ab_run(tmp_path, sigma=0.001, counts=[COUNT])
    file = tmp_path / "counts.jsonl"
    line, end = file.read_text().splitlines(keepends=True)
    for text, message in (
        (end, "counts.jsonl:1: 0 lines, but 1 were counted"),
        (line + end + end, "counts.jsonl:3: a line follows the one that ends"),
        (line + end.replace(AB_RUN_ID, "other"), "counts.jsonl:2: belongs to run"),
        (
            line + end.replace('"tools"', '"fools"'),
            "counts.jsonl:2: end: 'tools' is missing; the run is damaged",
        ),
        (line + end.replace('"schema": 1', '"schema": 9'), "2: unknown schema 9"),
    ):
        file.write_text(text)
        assert message in refusal(tmp_path)


def test_only_suspects_have_confirm_rounds(tmp_path: Path) -> None:
    plan = ab_plan([ONE])
    write_documents(tmp_path, plan, ab_lines(plan, sigma=0.001, confirm=[ONE]))
    assert f"measurements.jsonl:17: confirm round of {ONE}, w" in refusal(tmp_path)


def test_labels_and_reasons_are_one_visible_line(tmp_path: Path) -> None:
    failures = {ONE: ("b", "wrong", "audit\n\u202e3 \u2028differ\x1b[2J")}
    plan = ab_plan([ONE])
    plan["sides"]["a"]["label"] = "base\n\u200b1"
    lines = ab_lines(plan, failures=failures)
    run = load_ab_run(write_documents(tmp_path, plan, lines))
    assert run.a.label == "base ?1"
    assert run.cells[0].failure == Failure("b", "wrong", "audit ?3 ?differ?[2J")


def test_two_digests_of_one_round_cost_the_cell_its_verdict(tmp_path: Path) -> None:
    plan = ab_plan([ONE])
    lines = ab_lines(plan)
    lines[1]["digest"] = "f" * 16
    run = load_ab_run(write_documents(tmp_path, plan, lines))
    failure = run.cells[0].failure
    assert failure and failure.status == "wrong"
    assert "contradicts itself" in failure.reason


def test_sides_with_a_digest_each_disagree(tmp_path: Path) -> None:
    plan = ab_plan([ONE])
    lines = ab_lines(plan)
    for line in lines:
        if line["ab"]["side"] == "b" and line["repetition"] == 2:
            line["digest"] = "f" * 16
    run = load_ab_run(write_documents(tmp_path, plan, lines))
    failure = run.cells[0].failure
    assert failure and failure.status == "wrong"
    digests = f"digest 0123456789abcdef on a, {'f' * 16} on b"
    assert failure.reason == f"the sides disagree in round 2: {digests}"
    assert [r.number for r in run.cells[0].screen] == [1, 3, 4]


def test_the_reads_of_an_ordinary_run_refuse_an_ab_run(tmp_path: Path) -> None:
    synthetic_run.write_run(tmp_path)
    assert "ab.json" in refusal(tmp_path)


def test_lines_of_an_ordinary_run_have_no_side(tmp_path: Path) -> None:
    plan = ab_plan([ONE])
    lines = ab_lines(plan)
    del lines[2]["ab"]
    error = refusal(write_documents(tmp_path, plan, lines))
    assert "measurements.jsonl:3: not a line of an A/B run" in error


def _renumbered(lines: Lines) -> None:
    for order, line in enumerate(lines):
        line["order"] = order


def _in_line(index: int, **changed: Any) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        lines[index].update(changed)

    return change


def _in_place(index: int, **changed: Any) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        lines[index]["ab"].update(changed)

    return change


def _doubled(lines: Lines) -> None:
    lines.insert(2, json.loads(json.dumps(lines[1])))
    _renumbered(lines)


def _cut_out(lines: Lines) -> None:
    del lines[2]
    _renumbered(lines)


def _doubled_round(lines: Lines) -> None:
    lines[4:4] = json.loads(json.dumps(lines[0:4]))
    _renumbered(lines)


def _seed_of_round_1(lines: Lines) -> None:
    for line in lines[4:8]:
        line["seed"] = lines[0]["seed"]


def _sides_out_of_pattern(lines: Lines) -> None:
    for line, side in zip(lines, "abab", strict=False):
        line["ab"]["side"] = side


def _measured_after_failing(lines: Lines) -> None:
    lines[3].update(status="error", reason="signal 11")


DAMAGE: dict[str, tuple[Callable[[Lines], None], str]] = {
    "a line of another run": (_in_line(5, run="other"), "6: belongs to run other"),
    "a cell not planned": (_in_line(0, engine="gamma"), "1: cell gamma"),
    "a side c": (_in_place(0, side="c"), "1: ab.side: 'c'"),
    "round 0": (_in_place(0, round=0), "1: ab.round: 0"),
    "a round too many": (
        lambda lines: lines[-1].update(
            repetition=99, ab={**lines[-1]["ab"], "round": 99}
        ),
        "8: round 99 was not planned",
    ),
    "a stage too early": (_in_place(0, stage="confirm"), "1: round 1 is not in"),
    "a round and a repetition": (
        _in_place(4, round=1),
        "5: ab.round is 1, but repetition is 2",
    ),
    "slot 4": (_in_place(0, slot=4), "1: ab.slot: 4"),
    "a padding too long": (_in_place(0, padding_bytes=4096), "1: ab.padding_bytes"),
    "a key too many": (_in_place(0, more=1), "1: ab: "),
    "a slot out of order": (_in_place(1, slot=2), "2: slot 2, expected 1"),
    "a round that begins late": (_in_place(0, slot=1), "1: a round begins"),
    "a doubled slot": (_doubled, "3: repeats slot 1 of line 2"),
    "a line cut out": (_cut_out, "3: slot 3, expected 2"),
    "a round cut out": (lambda lines: lines.__delitem__(slice(0, 4)), "1: order 4"),
    "a doubled round": (_doubled_round, "5: repeats slot 0 of line 1"),
    "a b a b": (_sides_out_of_pattern, "3: side a in slot 2, expected b"),
    "two seeds in a round": (_in_line(2, seed=7), "3: seed 7; the plan has 16"),
    "a seed of two rounds": (_seed_of_round_1, "5: seed 1688499109; the plan"),
    "an attempt too many": (_in_line(0, attempt=2), "1: attempt 2"),
    "a latency line": (_in_line(0, **{"pass": "latency"}), "1: attempt 1 of a latency"),
    "measured after it failed": (_measured_after_failing, "5: alpha/baseline/fill"),
    "another schema": (_in_line(0, schema=1), "1: schema 1"),
    "no number": (_in_line(0, loop_ns=float("nan")), "1: not valid JSON"),
    "a huge number": (_in_line(0, loop_ns=1e308), "1: loop_ns"),
    "a rate below nothing": (_in_line(0, loop_ns=-1), "1: loop_ns"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_refused_with_its_line(tmp_path: Path, what: str) -> None:
    change, message = DAMAGE[what]
    plan = ab_plan([ONE])
    lines = ab_lines(plan)[:8]
    change(lines)
    error = refusal(write_documents(tmp_path, plan, lines))
    assert error.removeprefix(f"{tmp_path}/measurements.jsonl:").startswith(message)


def test_unlike_passes_in_a_round_are_refused(tmp_path: Path) -> None:
    plan = ab_plan([ONE])
    plan["rule"]["same_passes"] = True
    lines = ab_lines(plan)[:4]
    for line, number in zip(lines, (2, 2, 3, 2), strict=True):
        line["passes"] = [{key: line[key] for key in pass_times()}] * number
    error = refusal(write_documents(tmp_path, plan, lines))
    assert "measurements.jsonl:3: 3 passes, but 2 in line 1" in error


def test_a_round_after_a_later_one_is_refused(tmp_path: Path) -> None:
    plan = ab_plan([ONE, ONE.replace("fillrandom", "fillseq")])
    round_0, round_1, round_2 = (ab_lines(plan)[n : n + 4] for n in (0, 4, 8))
    lines = [*round_0, *round_2, *round_1]
    _renumbered(lines)
    error = refusal(write_documents(tmp_path, plan, lines))
    assert "measurements.jsonl:9: round 1 after 2" in error


def test_a_line_for_an_engine_that_is_missing_is_refused(tmp_path: Path) -> None:
    lines = ab_lines(ab_plan([ONE]))
    plan = ab_plan([ONE], missing={"alpha": ("b", "not built")})
    assert ":1: alpha/baseline/fillrandom cannot run" in refusal(
        write_documents(tmp_path, plan, lines)
    )


def _side_c(plan: Document) -> None:
    plan["sides"]["c"] = plan["sides"]["b"]


def _no_engine(plan: Document) -> None:
    plan["sides"]["b"]["engines"] = []


def _other_engines(plan: Document) -> None:
    plan["sides"]["b"]["engines"][0]["name"] = "gamma"


def _other_work(plan: Document) -> None:
    for benchmark in plan["sides"]["b"]["engines"][0]["describe"]["benchmarks"]:
        benchmark["ops_divisor"] = 10


def _other_rule(plan: Document) -> None:
    plan["rule"]["peek"] = True


def _strange_cell(plan: Document) -> None:
    plan["cells"][0]["scenario"] = "other"


PLANS: dict[str, tuple[Callable[[Document], None], str]] = {
    "of a later schema": (lambda plan: plan.update(schema=2), "schema"),
    "of another kind": (lambda plan: plan.update(kind="run"), "kind"),
    "with a third side": (_side_c, "sides"),
    "without an engine": (_no_engine, "sides.b.engines"),
    "with other engines": (_other_engines, "the same engines"),
    "of other work": (_other_work, "does different work on each side"),
    "with another rule": (_other_rule, "rule"),
    "of a strange cell": (_strange_cell, ": unknown scenario"),
    "that confirms nothing": (
        lambda plan: plan["rule"].update(confirm_rounds=3),
        "rule.confirm_rounds",
    ),
    "with a limit of its own": (
        lambda plan: plan["rule"].update(alpha=1e-12),
        "rule.alpha is 1e-12, not 0.008; this version uses",
    ),
    "with a limit that is not a number": (
        lambda plan: plan["rule"].update(alpha=float("nan")),
        "JSON number; the run is damaged: restore the file or delete the run",
    ),
    "without a seed": (
        lambda plan: plan.pop("seed"),
        "'seed' is missing; the run is damaged: restore the file or delete the run",
    ),
    "of a newer version": (
        lambda plan: plan.update(schema=2),
        "unknown schema 2; expected 1",
    ),
}


@pytest.mark.parametrize("what", PLANS)
def test_a_damaged_plan_is_refused(tmp_path: Path, what: str) -> None:
    change, message = PLANS[what]
    plan = ab_plan([ONE])
    lines = ab_lines(plan)
    change(plan)
    error = refusal(write_documents(tmp_path, plan, lines))
    assert f"{tmp_path}/ab.json: " in error
    assert message in error


@pytest.mark.parametrize("name", ["ab.json", "environment.json", "measurements.jsonl"])
def test_any_cut_ends_in_a_refusal_or_a_shorter_run(tmp_path: Path, name: str) -> None:
    write_ab_run(tmp_path, cells=[ONE], confirm=())
    whole = (tmp_path / name).read_bytes()
    for cut in range(0, len(whole), max(1, len(whole) // 40)):
        (tmp_path / name).write_bytes(whole[:cut])
        try:
            assert load_ab_run(tmp_path).unfinished
        except ResultsError as refused:
            assert str(refused).startswith(str(tmp_path / name))
