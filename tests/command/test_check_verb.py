import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from report.trust.judge import load_run
from scripts.cli.verbs import main
from tests.builders import synthetic_ab, synthetic_records, synthetic_run

SLOW = synthetic_ab.CELLS[0]


def check(
    folder: Path, *words: str, env: Mapping[str, str | None] | None = None
) -> Result:
    places = ["--results-dir", str(folder), "--history-dir", str(folder / "history")]
    usual = {"GITHUB_STEP_SUMMARY": None, "NO_COLOR": "1"}
    return CliRunner().invoke(
        main, ["check", *words, *places], env={**usual, **(env or {})}
    )


def ab_run(folder: Path, **options: object) -> Path:
    path = folder / synthetic_ab.AB_RUN_ID
    return synthetic_ab.write_ab_run(path, **options)  # type: ignore[arg-type]


def run_of(folder: Path, day: int, *, repetitions: int = 4, slower: float = 1.0) -> str:
    """Return a run; fillseq of every engine needs `slower` times as long."""
    name = f"202601{day:02}-030405-synthetic"
    plan = {**synthetic_run.plan(repetitions=repetitions), "run": name}
    builds = [{**e, "binary_sha256": f"{day:064}"} for e in plan["engines"]]
    plan["engines"] = builds
    lines = []
    for line in synthetic_run.lines(plan):
        record = {**line, "run": name}
        # No two runs are alike.
        factor = 1 + (day * 7 % 5) / 500
        factor *= slower if line["benchmark"] == "fillseq" else 1
        lines.append(synthetic_records.retimed(record, int(line["loop_ns"] * factor)))
    synthetic_run.write_run(folder / name, plan, lines)
    return name


def test_the_last_ab_run_is_judged_by_its_own_rule(tmp_path: Path) -> None:
    ab_run(tmp_path, effects={SLOW: 0.1})
    result = check(tmp_path)
    assert result.exit_code == 1
    assert re.search(f"▼ regressed +{SLOW} ", result.stdout)
    assert "not passed" in result.stdout
    assert check(tmp_path, "--fail-on", "never").exit_code == 0
    others = ["-k", "beta-tree/*", "-k", synthetic_ab.CELLS[1]]
    assert check(tmp_path, *others).exit_code == 0


def test_an_ab_run_without_a_change_passes(tmp_path: Path) -> None:
    ab_run(tmp_path)
    assert check(tmp_path).exit_code == 0


def test_failed_cells_exit_3_and_a_run_in_which_all_failed_5(tmp_path: Path) -> None:
    failures = {name: ("b", "wrong", "lost") for name in synthetic_ab.CELLS}
    ab_run(tmp_path / "some", failures={SLOW: failures[SLOW]})
    assert check(tmp_path / "some").exit_code == 3
    ab_run(tmp_path / "all", failures=failures)
    result = check(tmp_path / "all", "--allow-no-base")
    assert result.exit_code == 5
    assert "nothing was judged" in result.stdout


def test_an_ordinary_run_requires_against(tmp_path: Path) -> None:
    run_of(tmp_path, 1)
    result = check(tmp_path)
    assert result.exit_code == 2
    assert "--against" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--against", "20260101"],
        ["--threshold", "5%"],
        ["-k", "nothing/*"],
        ["--format", "xml"],
        ["--fail-on", "always"],
    ],
)
def test_contradictory_options_are_a_usage_error(
    tmp_path: Path, words: list[str]
) -> None:
    run_of(tmp_path, 1)
    ab_run(tmp_path)
    result = check(tmp_path, synthetic_ab.AB_RUN_ID, *words)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_a_run_against_another(tmp_path: Path) -> None:
    base, new = run_of(tmp_path, 1), run_of(tmp_path, 2, slower=1.3)
    assert check(tmp_path, new, "--against", base).exit_code == 1
    assert check(tmp_path, base, "--against", new).exit_code == 0
    assert check(tmp_path, new, "--against", base, "--threshold", "50%").exit_code == 0
    itself = check(tmp_path, new, "--against", new)
    assert itself.exit_code == 2
    assert "the run itself" in itself.stderr


def test_the_first_run_has_nothing_before_it(tmp_path: Path) -> None:
    run_of(tmp_path, 1)
    words = ["@last", "--against", "@-2"]
    first = check(tmp_path, *words)
    assert first.exit_code == 5
    assert first.stdout.splitlines()[2:] == [
        "",
        f"not passed: nothing was judged: no run @-2 in {tmp_path}, which has 1 run",
    ]
    allowed = check(tmp_path, *words, "--allow-no-base")
    assert allowed.exit_code == 0
    assert "passed without a comparison" in allowed.stdout
    third = check(tmp_path, "@last", "--against", "@-3", "--allow-no-base")
    assert third.exit_code == 0
    missing = check(tmp_path, "@last", "--against", "20250101", "--allow-no-base")
    assert missing.exit_code == 2


def add_to_history(folder: Path, days: range, slower: float = 1.0) -> None:
    """Add runs of these days to the history."""
    for day in days:
        name = run_of(folder, day, slower=slower)
        places = ["--results-dir", str(folder)]
        places += ["--history-dir", str(folder / "history")]
        added = CliRunner().invoke(main, ["history", "add", name, *places])
        assert added.exit_code == 0, added.output


@pytest.mark.slow
def test_a_run_against_the_history(tmp_path: Path) -> None:
    add_to_history(tmp_path, range(1, 8))
    against = ["--against", "history"]
    same = run_of(tmp_path, 20)
    assert check(tmp_path, same, *against).exit_code == 0
    for day in (21, 22):  # one run is no step
        add_to_history(tmp_path, range(day, day + 1), slower=1.5)
    slow = run_of(tmp_path, 23, slower=1.5)
    before = sorted((tmp_path / "history").iterdir())
    result = check(tmp_path, slow, *against)
    assert result.exit_code == 1
    assert "▼ nominated  alpha/baseline/fillseq" in result.stdout
    assert "regressed" not in result.stdout
    first, last = "20260123-030405-synthetic", "20260102-030405-synthetic"
    command = f"confirm   scripts/kvmatrix ab synthetic --a BUILD_OF_{last} --b BUILD"
    assert f"{command}_OF_{first} -k alpha/baseline/fillseq -k" in result.stdout
    assert sorted((tmp_path / "history").iterdir()) == before
    chosen = check(tmp_path, slow, *against, "-k", "*/*/readseq")
    assert chosen.exit_code == 0
    add_to_history(tmp_path, range(23, 24), slower=1.5)
    assert check(tmp_path, slow, *against).stdout == result.stdout


def test_the_removed_window_option_names_its_replacement(tmp_path: Path) -> None:
    result = check(tmp_path, run_of(tmp_path, 1), "--against", "window:12")
    assert result.exit_code == 2
    assert "--against history" in result.stderr


def test_a_short_history_passes_only_with_allow_no_base(tmp_path: Path) -> None:
    add_to_history(tmp_path, range(1, 4))
    name = run_of(tmp_path, 9, slower=1.5)
    words = [name, "--against", "history"]
    result = check(tmp_path, *words)
    assert result.exit_code == 5
    assert "3 earlier runs" in result.stdout
    allowed = check(tmp_path, *words, "--allow-no-base", "--format", "github")
    assert allowed.exit_code == 0
    assert allowed.stdout.startswith("::warning ")


def keep_lines(folder: Path, *keep: str) -> None:
    """Keep the lines that contain one of these texts."""
    path = folder / "measurements.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(x for x in lines if any(word in x for word in keep)))


def test_a_short_history_does_not_excuse_a_missing_cell(tmp_path: Path) -> None:
    add_to_history(tmp_path, range(1, 4))
    name = run_of(tmp_path, 9)
    keep_lines(tmp_path / name, '"readseq"')
    words = [name, "--against", "history", "--allow-no-base"]
    result = check(tmp_path, *words)
    assert result.exit_code == 3
    assert "failed or missing" in result.stdout


def test_an_unfinished_run_never_passes(tmp_path: Path) -> None:
    add_to_history(tmp_path, range(1, 7))
    name = run_of(tmp_path, 20)
    keep_lines(tmp_path / name, '"repetition": 1,', '"repetition":1,')
    result = check(tmp_path, name, "--against", "history")
    assert result.exit_code == 3
    assert "unfinished" in result.stdout
    keep_lines(tmp_path / name, "nothing")
    bases = {"history": "no cell of this run has a rate", "20260106": "no measurements"}
    for against, reason in bases.items():
        empty = check(tmp_path, name, "--against", against)
        assert empty.exit_code == 5
        assert reason in empty.stdout


def test_each_difference_that_prevents_a_comparison_is_printed_once(
    tmp_path: Path,
) -> None:
    base, new = run_of(tmp_path, 1), run_of(tmp_path, 2)
    path = tmp_path / new / "run.json"
    document = json.loads(path.read_text())
    document["machine"] |= {"logical_cpus": 61, "cpu_model": "x"}
    path.write_text(json.dumps(document))
    found = check(tmp_path, new, "--against", base)
    assert found.exit_code == 5
    *_, first, second, last = found.stdout.splitlines()
    assert first.startswith("differs   machine: ") and second.startswith("differs   ma")
    assert last == "not passed: nothing was judged: 2 differences prevent a comparison"
    assert found.stdout.count("61 in new") == 1
    assert "\nrule " not in found.stdout, "no rule was applied"
    on_github = check(tmp_path, new, "--against", base, "--format", "github")
    (annotation,) = on_github.stdout.splitlines()
    assert "61 in new" in annotation


def test_help_says_what_is_needed_and_excused() -> None:
    told = " ".join(CliRunner().invoke(main, ["check", "--help"]).output.split())
    assert "run -n 4" in told
    assert "still gives exit code 3" in told
    assert "@last" in told


def test_damaged_files_exit_2_and_name_the_file(tmp_path: Path) -> None:
    path = ab_run(tmp_path)
    with (path / "measurements.jsonl").open("a") as file:
        file.write("{}\n")
    result = check(tmp_path)
    assert result.exit_code == 2
    assert "measurements.jsonl:" in result.stderr
    assert result.stdout == ""
    add_to_history(tmp_path / "x", range(1, 2))
    [entry] = (tmp_path / "x/history").iterdir()
    entry.write_text("{")
    name = run_of(tmp_path / "x", 5)
    damaged = check(tmp_path / "x", name, "--against", "history", "--allow-no-base")
    assert damaged.exit_code == 2
    assert entry.name in damaged.stderr


def test_formats_are_written_to_their_targets(tmp_path: Path) -> None:
    ab_run(tmp_path, effects={SLOW: 0.1})
    as_json = check(tmp_path, "--format", "json")
    assert json.loads(as_json.stdout)["exit"] == as_json.exit_code == 1
    assert "not passed" in as_json.stderr
    target = tmp_path / "check.xml"
    as_xml = check(tmp_path, "--format", "junit", "-o", str(target))
    assert (as_xml.exit_code, as_xml.stdout) == (1, "")
    assert ElementTree.fromstring(target.read_text()).find(".//failure") is not None


def test_github_gets_annotations_and_a_summary_is_appended(tmp_path: Path) -> None:
    ab_run(tmp_path, effects={SLOW: 0.1})
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    result = check(
        tmp_path, "--format", "github", env={"GITHUB_STEP_SUMMARY": str(summary)}
    )
    assert result.exit_code == 1
    assert f"::error title=regressed%3A {SLOW}::" in result.stdout
    text = summary.read_text()
    assert text.startswith("before\n")
    assert SLOW in text
    place = str(tmp_path / "none" / "summary.md")
    bad = check(tmp_path, "--format", "github", env={"GITHUB_STEP_SUMMARY": place})
    assert bad.exit_code == 2
    assert "$GITHUB_STEP_SUMMARY" in bad.stderr
    quiet = check(tmp_path, "--format", "github", env={"GITHUB_STEP_SUMMARY": ""})
    assert quiet.exit_code == 1


def test_synthetic_runs_are_sound(tmp_path: Path) -> None:
    run = load_run(tmp_path / run_of(tmp_path, 1, slower=1.5))
    assert all(cell.rates for cell in run.cells.values())
