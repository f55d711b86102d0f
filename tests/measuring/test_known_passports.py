"""Which durability runs give the engines of a new run their class."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.durability.durability_plan import PlannedSetting
from report.terms.class_stamp import LOSES_NEWEST
from report.trust.judge import load_run
from report.verdict.ab_judge import load_ab_run
from tests.builders import synthetic_durability as synthetic
from tests.support.lab import Lab, make_lab

OLD, NEW = "20260101-000000-durability", "20260102-000000-durability"
TELLING = "[engine.durability.small]\npage_size = 512\n"
VARIANT = 'variant_of = "one"\n'


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.engine("one", "honest", more=TELLING)
    lab.scenario(benchmarks=("fillseq",))
    lab.suite()
    return lab


def tried(
    lab: Lab,
    *settings: PlannedSetting,
    run: str = OLD,
    states: int = 10,
    ways: Sequence[str] = ("kill", "shutdown"),
    **outcomes: int,
) -> Path:
    """Write a durability run that tried these settings; return its folder."""
    plan = synthetic.plan(*settings, run=run)
    trials = [t for t in plan.trials if t.method in ways]
    whole = synthetic.outcomes(complete=states)
    counts = synthetic.outcomes(**outcomes) if outcomes else whole
    records = [
        synthetic.trial(t.method, t.fs, t.setting)
        | {
            "seed": t.seed,
            "states": {"acknowledged": whole if t.method == "kill" else counts},
        }
        for t in trials
    ]
    promised = synthetic.promised(LOSES_NEWEST, records)
    return synthetic.write(
        lab.results / run, promised, replace(plan, trials=tuple(trials))
    )


def known(lab: Lab, *words: str, engine: str = "one") -> dict[str, Any]:
    """Return the passports of an engine in a new run."""
    done = lab.call("run", "lab", "-n", "1", *words)
    assert done.returncode == 0, done.stderr
    plan = load_run(lab.run_folder).plan
    return {k: (v.stamp, v.run) for k, v in plan.engine(engine).passports.items()}


BUFFERED = synthetic.setting("one/buffered")
PROVED = {"buffered": ("D3 proved (10 states)", OLD)}


def test_the_class_that_was_found_is_that_of_the_engine(lab: Lab) -> None:
    tried(
        lab, BUFFERED, synthetic.setting("one/durable"), synthetic.setting("one/small")
    )
    assert known(lab) == {**PROVED, "durable": ("D3 proved (10 states)", OLD)}


def test_without_a_durability_run_nothing_is_known(lab: Lab) -> None:
    assert known(lab) == {}
    assert "passports" not in lab.plan()["engines"][0]


def test_the_newest_run_counts(lab: Lab) -> None:
    tried(lab, BUFFERED)
    tried(lab, BUFFERED, run=NEW, complete=3, hole=4)
    assert known(lab) == {"buffered": ("D1 contradicted (7 states)", NEW)}


def test_a_run_that_could_not_cut_the_power_proves_nothing(lab: Lab) -> None:
    tried(lab, BUFFERED)
    tried(lab, BUFFERED, run=NEW, ways=("kill",))
    assert known(lab) == PROVED


@pytest.mark.parametrize(
    "other",
    [
        replace(BUFFERED, version="1.1"),
        synthetic.setting("two/buffered"),
        synthetic.setting("one/small"),
    ],
    ids=["version", "engine", "setting"],
)
def test_a_passport_of_something_else_does_not_count(
    lab: Lab, other: PlannedSetting
) -> None:
    tried(lab, other)
    assert known(lab) == {}


def test_a_run_that_cannot_be_read_is_skipped(lab: Lab) -> None:
    tried(lab, BUFFERED)
    damaged = tried(lab, BUFFERED, run=NEW) / "trials.jsonl"
    damaged.write_text(damaged.read_text().replace('"tried": 10', '"tried": 11'))
    assert known(lab) == PROVED


def test_flags_that_tell_settings_apart_must_be_as_tried(lab: Lab) -> None:
    """page_size is one: [engine.durability.small] sets it."""
    tried(lab, BUFFERED)
    settings = "[settings.one]\npage_size = 512\n"
    lab.scenario(benchmarks=("fillseq",), more=settings)
    assert known(lab) == {}


def test_a_flag_of_the_engine_itself_was_tried_too(tmp_path: Path) -> None:
    lab = make_lab(tmp_path)
    lab.engine("one", "honest", more="[engine.flags]\npage_size = 512\n" + TELLING)
    lab.scenario(benchmarks=("fillseq",))
    lab.suite()
    tried(lab, BUFFERED)
    assert known(lab) == PROVED


def test_a_variant_has_the_class_of_its_engine_unless_its_flags_differ(
    lab: Lab,
) -> None:
    lab.engine("like", None, "variant", VARIANT)
    lab.engine("unlike", None, "variant", f"{VARIANT}[engine.flags]\npage_size = 512\n")
    tried(lab, BUFFERED)
    assert known(lab, "-e", "one,like,unlike", engine="like") == PROVED
    plan = load_run(lab.run_folder).plan
    assert plan.engine("unlike").passports == {}


def test_a_variant_that_was_tried_has_its_own_class(lab: Lab) -> None:
    lab.engine("unlike", None, "variant", f"{VARIANT}[engine.flags]\npage_size = 512\n")
    tried(lab, BUFFERED)
    tried(lab, synthetic.setting("unlike/buffered"), run=NEW, complete=8, hole=1)
    found = known(lab, "-e", "one,unlike", engine="unlike")
    assert found == {"buffered": ("D1 contradicted (9 states)", NEW)}
    assert load_run(lab.run_folder).plan.engine("one").passports.keys() == {"buffered"}


def test_what_was_tried_of_a_variant_counts_before_its_engine(lab: Lab) -> None:
    lab.engine("like", None, "variant", VARIANT)
    tried(lab, synthetic.setting("like/buffered"))
    tried(lab, BUFFERED, run=NEW)
    assert known(lab, "-e", "one,like", engine="like") == PROVED


def test_the_level_of_a_scenario_is_not_a_flag_that_differs(lab: Lab) -> None:
    tried(lab, BUFFERED)
    flags: Any = {"num": 64, "key_size": 16, "value_size": 100}
    lab.scenario(benchmarks=("fillseq",), flags={**flags, "durability": "durable"})
    assert known(lab) == PROVED


def test_both_sides_of_an_ab_run_have_the_class(lab: Lab) -> None:
    tried(lab, BUFFERED)
    words = ("--aa", "--a", str(lab.root / "build"), "--no-counts")
    done = lab.call(
        "ab", "lab", *words, "--screen-rounds", "3", "--confirm-rounds", "4"
    )
    assert done.returncode == 0, done.stderr
    plan = load_ab_run(lab.run_folder).plan
    for side in plan.sides.values():
        assert side.engine("one").passports["buffered"].stamp == "D3 proved (10 states)"
