"""The command that repeats a run, and where its time went."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.model.run import Run
from report.page import report_page
from report.terms.regime import Regime
from report.trust.judge import load_run
from report.verdict import comparison
from report.words import provenance
from tests.builders import synthetic_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return load_run(synthetic_run.write_varied(tmp_path_factory.mktemp("run")))


def command(run: Run, engines: str = "alpha", **suite: Any) -> list[str]:
    suited = replace(run.plan, suite=replace(run.plan.suite, **suite))
    suited_run = replace(run, plan=suited)
    return provenance.rerun_command(suited_run, engines, "baseline", "fillseq").split()


def test_a_command_passes_on_what_the_run_was_given(run: Run) -> None:
    chosen = {"num": 5000, "rate": 2500.0, "cache_size": 4096, "sync": True}
    arguments = command(run, chosen=chosen, latency_repetitions=0, repeat_disturbed=0)
    assert arguments[arguments.index("--rate") + 1] == "2500.0"
    assert arguments[arguments.index("--num") + 1] == "5000"
    for setting in ("cache_size=4096B", "sync=true"):
        assert arguments[arguments.index(setting) - 1] == "--set"
    assert arguments[arguments.index("--repeat-disturbed") + 1] == "0"
    assert "--no-latency" in arguments
    assert "--no-latency" not in command(run)
    with_latency = replace(run.plan, command=f"{run.plan.command} --latency")
    with_flag = replace(run, plan=with_latency)
    assert "--latency" in command(with_flag) and "--latency" not in command(run)


@pytest.mark.parametrize(
    ("kind", "words"), [("loop", []), ("block", ["--device", "PATH"])]
)
def test_a_command_names_the_regime(run: Run, kind: str, words: list[str]) -> None:
    regime = Regime("cold", 64 << 20, kind, 1 << 30, "ext4", 4096)
    scenarios = tuple(replace(s, regime=regime) for s in run.plan.scenarios)
    limited = replace(run, plan=replace(run.plan, scenarios=scenarios))
    arguments = command(limited)
    assert arguments[arguments.index("--memory-limit") + 1] == "67108864B"
    assert [w for w in arguments if w in ("--device", "PATH")] == words


def test_a_page_names_the_commit_and_whether_it_was_changed(run: Run) -> None:
    document = {k: v for k, v in run.document.items() if k != "harness"}
    pages = [
        report_page.render(
            replace(run, document=document, plan=replace(run.plan, harness=harness))
        )
        for harness in (
            {"commit": "5" * 40, "dirty": True},
            {"commit": "5" * 40, "dirty": False},
            {"commit": None, "dirty": None},
            {},
        )
    ]
    assert ["5" * 40 in page for page in pages] == [True, True, False, False]
    assert len({*pages}) == 4


def test_a_text_in_a_command_is_quoted_for_the_shell(run: Run) -> None:
    chosen = {"mix_shares": "read:100; rm -rf"}
    words = shlex.split(" ".join(command(run, chosen=chosen)))
    assert words[words.index("--set") + 1] == "mix_shares=read:100; rm -rf"


def test_the_control_is_selected_by_its_name_in_the_suite(run: Run) -> None:
    twin = synthetic_run.CONTROL[0]
    for engines, named in ((f"alpha,{twin}", "alpha"), (twin, "alpha")):
        arguments = command(run, engines)
        assert (
            "--control" in arguments and arguments[arguments.index("-e") + 1] == named
        )
    assert "--control" not in command(run, "beta-tree")
    assert "--control" not in command(run, "alpha", control="")


def test_repeated_attempts_are_part_of_the_time(run: Run) -> None:
    parts = {s.title: s.elapsed_ns for s in provenance.time_shares(run)}
    earlier = [m for cell in run.cells.values() for m in cell.superseded]
    whole = [m.record["wall_ns"] for m in run.measurements if m.record["wall_ns"]]
    assert earlier and sum(parts.values()) == sum(whole)
    assert parts["disturbed attempts"] == sum(
        m.record["wall_ns"] - (m.record["prepare_ns"] or 0) for m in earlier
    )
    assert parts["timed work"] == sum(
        (m.figure("loop_ns") or 0) + (m.figure("flush_ns") or 0)
        for m in run.measurements
        if m not in earlier
    )


def test_processor_numbers_are_no_number_of_processors() -> None:
    assert provenance.readable("allowed_cpus", "3") == "processor numbers 3"
    assert provenance.readable("allowed_cpus", "") == "unknown"


def test_the_limits_of_the_figures_are_reported(run: Run) -> None:
    page = report_page.render(run)
    assert "only their sum is reliable" in page
    assert "read no clock" not in page
    assert page.count("read the clock about once every 16 µs") == 2


def test_only_what_was_requested_is_called_requested(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    settings = {
        "cache_size": "4194304 (as requested)",
        "open_files": "1000 (as requested)",
    }
    for line in lines:
        line["settings"] = {**settings, "page_size": "1024"}
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    charts = comparison.compare(run).charts[:1]
    (alpha, *_) = provenance.settings(charts[0].scenario, charts)
    assert dict(alpha.read_back) == {
        "cache_size": "4194304 (as requested)",
        "open_files": "1000 (default, not read back)",
        "page_size": "1024",
    }
