"""Processor time beside wall time, and evidence that they must agree with."""

from dataclasses import replace

import pytest

from report.model.ab_run import AbCell, Round
from report.model.description import Description
from report.model.judgement import MORE, NOT_GATED, SAME, Verdict
from report.model.plan import Engine
from report.verdict import ab_verdicts
from report.verdict.ab_verdicts import judge
from report.verdict.count_verdicts import INSTRUCTIONS, CountResult
from tests.builders.ab_rounds import (
    Pair,
    Rounds,
    cell,
    cell_name,
    noisy,
    plan_of,
    run_of,
    with_cpu,
)
from tests.verdicts.test_ab_verdicts import judgement_of, only, two_stages


def disturbed(one: Round, marks: int) -> Round:
    """Return a round in which the processes of the first slots are disturbed."""

    def side(pair: Pair) -> Pair:
        first, second = (
            replace(m, disturbed=("other programs",)) if m.slot < marks else m
            for m in pair
        )
        return first, second

    return replace(one, a=side(one.a), b=side(one.b))


def two_measures(
    wall: float, cpu: float, cv: float = 0.2, marks: int = 0
) -> tuple[AbCell, AbCell]:
    """Return a slower cell, with little noise of processor time, and a quiet one.

    Of the four processes of each round, `marks` are disturbed.
    """

    def stage(count: int, seed: int, first: int) -> Rounds:
        marked = (disturbed(r, marks) for r in noisy(count, wall, cv, seed, first))
        return with_cpu(tuple(marked), noisy(count, cpu, 0.01, seed + 7, first))

    quiet = with_cpu(noisy(4, cv=0.001), noisy(4, cv=0.001))
    slower = cell(stage(4, 1, 1), stage(15, 2, 5))
    return slower, cell(quiet, name=cell_name(benchmark="quiet"))


def test_processor_time_shows_what_noise_hides_from_wall_time() -> None:
    result = judge(run_of(*two_measures(0.0, 0.05)))
    shown = result.cells[0]
    assert shown.cpu
    assert shown.cpu.verdict is Verdict.REGRESSED
    assert shown.cpu.time_change == pytest.approx(0.05, abs=0.01)
    assert judgement_of(shown).verdict is Verdict.INCONCLUSIVE
    assert result.regressed_cpu == (shown,)
    assert (result.regressed, result.exit_code) == ((), 1)


def test_the_limit_of_p_is_shared_by_the_measures() -> None:
    """A cell that either measure nominates is tested in both."""
    weak = two_stages(0.1, 0.0)
    weak = replace(weak, confirm=noisy(15, 0.03, cv=0.05, seed=20, first=5))
    assert judgement_of(only(weak)).verdict is Verdict.REGRESSED
    both = replace(
        weak,
        screen=with_cpu(weak.screen, noisy(4, seed=3)),
        confirm=with_cpu(weak.confirm, noisy(15, seed=3, first=5)),
    )
    assert judgement_of(only(both)).verdict is Verdict.INCONCLUSIVE
    assert judgement_of(only(both)).p_slower == judgement_of(only(weak)).p_slower


@pytest.mark.parametrize(
    ("cpu", "marks", "verdict"),
    [
        (0.0, 4, Verdict.INCONCLUSIVE),
        (0.0, 3, Verdict.REGRESSED),  # a quarter of its processes had a quiet machine
        (0.03, 4, Verdict.REGRESSED),
        (-0.03, 4, Verdict.INCONCLUSIVE),
    ],
)
def test_wall_time_of_disturbed_processes_needs_other_evidence(
    cpu: float, marks: int, verdict: Verdict
) -> None:
    shown, quiet = two_measures(0.3, cpu, 0.01, marks)
    result = judge(run_of(shown, quiet)).cells[0]
    assert judgement_of(result).verdict is verdict
    assert (result.disturbed, result.processes) == (marks * 19, 76)


def build(origin: str, executable: str) -> Engine:
    """Return an engine with the checksums of its library and of its executable."""
    described = Description({"build": {"origin_sha256": origin}}, {}, {})
    return Engine("alpha", "", "", "", described, "", executable)


@pytest.mark.parametrize(
    ("instructions", "verdicts"),
    [
        (SAME, (Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE)),
        (MORE, (Verdict.REGRESSED, Verdict.REGRESSED)),
        (NOT_GATED, (Verdict.REGRESSED, Verdict.REGRESSED)),
    ],
)
def test_one_library_on_both_sides_is_slower_only_if_it_does_more(
    monkeypatch: pytest.MonkeyPatch,
    instructions: str,
    verdicts: tuple[Verdict, Verdict],
) -> None:
    cells = two_measures(0.3, 0.05, 0.01)
    executed = CountResult(
        cell_name(), INSTRUCTIONS, "", 1, 1, 0.0, 0.002, instructions
    )
    monkeypatch.setattr(ab_verdicts, "count_results", lambda _run: (executed,))
    differ = (Verdict.REGRESSED, Verdict.REGRESSED)
    for a, b, expected in (
        (build("1", "3"), build("1", "4"), verdicts),
        (build("", "3"), build("", "3"), verdicts),
        (build("1", "3"), build("2", "4"), differ),
        (build("", "3"), build("", "4"), differ),
    ):
        engines = {"a": (a,), "b": (b,)}
        run = run_of(*cells, plan=plan_of(*cells, engines=engines))
        shown = judge(run).cells[0]
        assert shown.cpu
        assert (judgement_of(shown).verdict, shown.cpu.verdict) == expected
